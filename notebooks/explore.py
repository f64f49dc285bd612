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
# # Exploring a workspace
#
# A workspace is one file. What was read, decided and paid for is in it, and pandas shows all of it.

# %%
from pathlib import Path

import sliders

documents = Path("demo/documents")
workspace = sliders.Workspace("build/explore.db")
print(workspace.add(documents))

# %% [markdown]
# What a question would take, before anything is asked:

# %%
question = "What is the average length of the bridges in metres?"
print(workspace.explain(question))

# %% [markdown]
# The answer renders itself, with its SQL and the words that it rests on.

# %%
answer = workspace.ask(question)
answer

# %% [markdown]
# The tables that were made for the question:

# %%
name = next(iter(workspace.tables))
table = workspace.tables[name]
table

# %% [markdown]
# Any row walks back to the page, and any document says what became of it.

# %%
print(workspace.why(table["row_id"].iloc[0]))
print(workspace.why("ferry_timetable.txt"))

# %% [markdown]
# What is open, what was done, and what it cost:

# %%
for conflict in workspace.conflicts():
    print(conflict)
for run in workspace.runs():
    print(run.id, run.kind, run.status, run.question)
print(workspace.usage)

# %% [markdown]
# A file for everybody else: it opens in Datasette, DB Browser and pandas, and `sliders verify` checks it.

# %%
print(workspace.export("build/audit.db"), workspace.verify())
workspace.close()
