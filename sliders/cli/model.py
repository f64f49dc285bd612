"""`sliders model`: model files, and a check of the configured model."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import asdict
from typing import Annotated, Any

import typer

from sliders.cli.shell import CommandCall, takes
from sliders.errors import SettingsError
from sliders.settings import Settings

app = typer.Typer(
    rich_markup_mode=None, help="Model files: fetch, list, locate; check the configured model."
)


@app.command()
@takes("quiet", "as_json")
def pull(
    call: CommandCall,
    url: Annotated[
        str | None,
        typer.Argument(
            metavar="[URL]", help="The address of a GGUF file; the embedded model when left out."
        ),
    ] = None,
    sha256: Annotated[
        str | None, typer.Option("--sha256", help="The hash that the file at URL must have.")
    ] = None,
) -> None:
    """Fetch the embedded model, or a GGUF file (once; the hash is checked), and print where it is
    kept.
    """
    from sliders.compact.embedded_model import download_bar
    from sliders.compact.model_file import EMBEDDED, ensure_model, pull_file, silent

    folder = Settings.from_env().cache_dir
    bar: Any = nullcontext(silent)
    if url is not None and sha256 is None:
        raise SettingsError(
            f"{url} needs --sha256 with the hash that its publisher names: a file that is not "
            "checked is not kept"
        )
    if not call.quiet and not call.as_json:
        bar = download_bar() if url is None else download_bar(url, "")
    with bar as report:
        if url is None or sha256 is None:
            path, known = ensure_model(folder, report), EMBEDDED.sha256
        else:
            path, known = pull_file(url, sha256, folder, report), sha256
    call.show(str(path), {"path": str(path), "sha256": known})


@app.command()
@takes("model", "dialect", "base_url", "api_key", "as_json")
def check(call: CommandCall) -> None:
    """Send ten small requests to the configured model, and say what works."""
    from sliders.engine import check_model

    probes = asyncio.run(check_model(Settings.from_env(**call.flags)))
    call.show("\n".join(map(str, probes)), [asdict(probe) for probe in probes])
    if any(probe.works is False for probe in probes):
        raise typer.Exit(1)


@app.command("list")
@takes("as_json")
def list_models(call: CommandCall) -> None:
    """List the embedded models, and whether they are fetched."""
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
def path(call: CommandCall) -> None:
    """Print the path of the embedded model's file, fetched or not."""
    from sliders.compact.model_file import EMBEDDED

    where = EMBEDDED.path(Settings.from_env().cache_dir)
    call.show(str(where), {"path": str(where), "here": where.is_file()})
