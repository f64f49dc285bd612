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
# # An audit
#
# Where does a number come from, how sure is it, what happens when a person knows better, and what
# changed since the last time? Start the notebook in the folder of the project.

# %%
from pathlib import Path

import sliders
from sliders.plots import timeline

here = Path.cwd()  # Jupyter starts in the folder of the notebook
project = here if (here / "demo").is_dir() else here.parent
build = project / "build"
build.mkdir(exist_ok=True)
workspace = sliders.Workspace(build / "audit_notebook.db")
workspace.add(project / "demo" / "documents")
question = "What is the average length of the bridges in metres?"
answer = workspace.ask(question)
answer

# %% [markdown]
# Every value walks back to its words: a row by its `row_id`, a document by its name,
# with what became of it.

# %%
name = next(iter(workspace.tables))
table = workspace.tables[name]
workspace.why(table["row_id"].iloc[0])

# %%
workspace.why("ferry_timetable.txt")

# %% [markdown]
# What contradicts itself and was not settled, and how sure the number is for that:

# %%
for conflict in workspace.conflicts():
    print(conflict)
print(answer.range)

# %% [markdown]
# A person knows better: the decision is kept, it holds for documents that come later,
# and it can be revoked.

# %%
measured = next(c for c in answer.citations if isinstance(c.value, int | float))
row = workspace.tables[measured.table].set_index("row_id").loc[measured.row_id]
named = next(column for column in row.index if isinstance(row[column], str))
decision = workspace.set_value(
    measured.table,
    measured.column,
    measured.value + 10,
    {named: row[named]},
    author="surveyor",
    reason="measured on site",
)
again = workspace.ask(question)
print(answer.value, "->", again.value)

# %% [markdown]
# What changed between the two runs, and why:

# %%
workspace.diff()

# %% [markdown]
# A document that comes later is read, the rest is known.

# %%
workspace.add_text(
    "The Lark Bridge is 500 metres long. It opened in 2021. It cost 2,000,000 euros.", "lark.txt"
)
workspace.ask(question)
workspace.diff()

# %% [markdown]
# The decision is taken back, and the tables are as the documents tell it.

# %%
workspace.revoke(decision)
workspace.reconcile()
print(workspace.decisions(name))

# %%
timeline(workspace, run=1)

# %% [markdown]
# Every value of the file is derived again; a file for everybody else opens in Datasette,
# DB Browser and pandas.

# %%
print(workspace.verify())
print([path.name for path in workspace.export(build / "audit.db")])
workspace.close()
