# ---
# jupyter:
#   jupytext:
#     formats: py:percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # A first look
#
# Ten short documents about bridges, a question, and what comes out. Everything is kept in one file,
# the workspace: run the notebook again and nothing is asked twice.

# %%
from pathlib import Path

import sliders
from sliders.plots import cost_by_stage, spread

here = Path.cwd()  # Jupyter starts in the folder of the notebook
project = here if (here / "demo").is_dir() else here.parent
build = project / "build"
build.mkdir(exist_ok=True)
workspace = sliders.Workspace(build / "first_look.db")
print(workspace.add(project / "demo" / "documents"))

# %% [markdown]
# What would a question take? No model is called for this.

# %%
question = "What is the average length of the bridges in metres?"
workspace.estimate(question)

# %% [markdown]
# The answer shows its rows, how sure it is, the SQL that gave it and the words on the page
# (click to open them).

# %%
answer = workspace.ask(question)
answer

# %% [markdown]
# The audit page of the answer opens under the cell: click on a value to see its words in the
# document.

# %%
answer.show()

# %% [markdown]
# A number has a range: what it would be if the values in doubt were different.

# %%
print(answer.range)

# %% [markdown]
# The tables that were made for the question are ordinary pandas frames.

# %%
workspace.tables

# %%
name = next(iter(workspace.tables))
table = workspace.tables[name]
table

# %% [markdown]
# The next question starts from what is known: its plan, its columns and its SQL are calls of their
# own, and documents are read for columns that are new only.

# %%
second = workspace.ask("How many bridges were opened after 2000?")
print(second.text, second.usage.calls, "calls")

# %% [markdown]
# What it cost, and how the values are spread.

# %%
cost_by_stage(workspace)

# %%
measured = next(c for c in answer.citations if isinstance(c.value, int | float))
spread(workspace, measured.table, measured.column)

# %%
workspace.close()
