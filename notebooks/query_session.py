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
# # A query session
#
# SQL over documents. The columns are said beforehand, the cells that a query needs are read when it
# runs, and no others. Start the notebook in the folder of the project.

# %%
from pathlib import Path

import sliders
from sliders.errors import SlidersError

here = Path.cwd()  # Jupyter starts in the folder of the notebook
project = here if (here / "demo").is_dir() else here.parent
build = project / "build"
build.mkdir(exist_ok=True)
workspace = sliders.Workspace(build / "query_session.db")
workspace.add(project / "demo" / "documents")
workspace.pin_schema(
    {
        "bridges": {
            "bridge_name": "text",
            "length": {"type": "number", "unit": "metres", "description": "How long the bridge is"},
            "cost": {"type": "number", "currency": "EUR", "description": "What building it cost"},
            "year_opened": {"type": "integer", "description": "The year in which it was opened"},
        }
    }
)

# %% [markdown]
# What would it take? Nothing is read for this.

# %%
workspace.estimate("What is the average length of the bridges in metres?")

# %% [markdown]
# The first query reads two columns, the second one reads the third.

# %%
workspace.query("SELECT bridge_name, length FROM bridges WHERE length > 100 ORDER BY length DESC")

# %%
print(workspace.usage.tokens, "tokens")
workspace.query(
    "SELECT bridge_name, cost FROM bridges WHERE cost IS NOT NULL ORDER BY cost DESC LIMIT 3"
)

# %% [markdown]
# These columns are known now: another query over them costs nothing.

# %%
workspace.query("SELECT AVG(length) AS mean_length, MAX(cost) AS dearest FROM bridges")

# %%
print(workspace.usage.tokens, "tokens")

# %% [markdown]
# SQL runs in a cage: it reads the data tables and nothing else.

# %%
try:
    workspace.query("DELETE FROM bridges")
except SlidersError as error:
    print(error)

# %% [markdown]
# A budget stops a run cleanly; what was read before it was spent is kept, and the next
# run goes on from there.

# %%
workspace.close()
with sliders.Workspace(build / "query_session.db", max_tokens=1) as small:
    small.add_text("The Lark Bridge is 500 metres long. It opened in 2021.", "lark.txt")
    answer = small.ask("What is the average length of the bridges in metres?")
    print(answer.status, "-", answer.text)
