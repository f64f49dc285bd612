from .ask import app as app
from .ask import main as main
from .ask import run as run
from .ask import split_words as split_words
from .printed_answers import answer_text as answer_text
from .serve import mcp_server as mcp_server
from .shell import CommandCall as CommandCall
from .start import next_steps as next_steps
