"""`sliders model`: the embedded model's file."""

from __future__ import annotations

import typer

from sliders.cli.shell import Call, takes
from sliders.settings import Settings

app = typer.Typer(
    rich_markup_mode=None, help="The embedded model: fetch it, list it, say where it is."
)


@app.command()
@takes("quiet", "as_json")
def pull(call: Call) -> None:
    """Fetch the embedded model (once; the hash is checked) and print where it is kept."""
    from sliders.compact.embedded_model import download_bar
    from sliders.compact.model_file import EMBEDDED, ensure_model, silent

    folder = Settings.from_env().cache_dir
    if call.quiet or call.as_json:
        path = ensure_model(folder, silent)
    else:
        with download_bar() as report:
            path = ensure_model(folder, report)
    call.show(str(path), {"path": str(path), "sha256": EMBEDDED.sha256})


@app.command("list")
@takes("as_json")
def list_models(call: Call) -> None:
    """List the embedded models and whether they are here."""
    from sliders.compact.model_file import EMBEDDED

    path = EMBEDDED.path(Settings.from_env().cache_dir)
    here = path.is_file()
    call.show(
        f"{EMBEDDED.name}  {EMBEDDED.size / 1e9:.2f} GB  {EMBEDDED.licence}  "
        f"{'here' if here else 'not fetched yet'}",
        [
            {
                "name": EMBEDDED.name,
                "bytes": EMBEDDED.size,
                "licence": EMBEDDED.licence,
                "here": here,
                "path": str(path),
            }
        ],
    )


@app.command()
@takes("as_json")
def path(call: Call) -> None:
    """Print where the embedded model is, or would be, kept."""
    from sliders.compact.model_file import EMBEDDED

    where = EMBEDDED.path(Settings.from_env().cache_dir)
    call.show(str(where), {"path": str(where), "here": where.is_file()})
