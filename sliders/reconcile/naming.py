"""Canonical names of a table's text columns: by rule, by the rows' evidence, and in the open band by the model."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from sliders.extraction.cell import Scalar
from sliders.llm.model import Model
from sliders.reconcile.agent import NamePair, match_names
from sliders.reconcile.canonical import Links, Variants, apply_variants, link_by_rule, variants_of
from sliders.reconcile.collector import paused
from sliders.reconcile.profile import Codes, ColumnProfile, Encoded
from sliders.reconcile.statements import set_sql
from sliders.reconcile.values import LEFT_OPEN, Choice, Options, Relation, Repair, Settlement
from sliders.reconcile.variants import RowEvidence, VariantPair, related, variant_pairs
from sliders.schema.types import ColumnType, Table

_PAIRS_A_CALL = 10
_RESPELLED = "the same words, but for case or white space"


@dataclass(slots=True)
class Naming:
    """Columns after canonicalization: codes are those of clusters; `variants` by column where forms were joined."""

    encoded: list[Encoded]
    variants: dict[str, Variants] = field(default_factory=dict)
    repairs: list[Repair] = field(default_factory=list)
    decisions: list[Choice] = field(default_factory=list)
    settlements: list[Settlement] = field(default_factory=list)
    calls: int = 0


async def name_columns(
    table: Table,
    relation: Relation,
    encoded: Sequence[Encoded],
    profiles: Sequence[ColumnProfile],
    options: Options,
    model: Model | None,
) -> Naming:
    """Join the forms of one name in every text column that can name a thing."""
    naming = Naming(list(encoded))
    for place, (column, profile) in enumerate(zip(table.columns, profiles, strict=True)):
        if column.type not in (ColumnType.TEXT, ColumnType.CATEGORY) or not profile.identifying:
            continue
        if f"{column.name}_canonical" in table.column_names:
            continue
        examples = encoded[place].examples
        links = Links(len(examples))
        link_by_rule(examples, links, options.normalize, column.name)
        if column.type is ColumnType.TEXT:
            with paused():
                evidence = RowEvidence(encoded[place].codes, _others(place, encoded, profiles))
                band = _link_by_evidence(examples, links, evidence)
            await _link_by_model(table, relation, place, encoded[place], band, links, options, model, naming)
        with paused():
            _apply(table, relation, place, links, options, naming)
    return naming


def _others(place: int, encoded: Sequence[Encoded], profiles: Sequence[ColumnProfile]) -> list[tuple[Codes, float]]:
    pairs = enumerate(zip(encoded, profiles, strict=True))
    return [(e.codes, p.chance) for n, (e, p) in pairs if n != place and not p.prose]


def _link_by_evidence(examples: Sequence[Scalar], links: Links, evidence: RowEvidence) -> list[VariantPair]:
    """Join what the rows speak for; returns the open band. Clusters join only if no pair of their forms is refuted."""
    members: dict[int, list[int]] = {}
    band = []
    for pair in variant_pairs(examples):
        left, right = links.find(pair.left), links.find(pair.right)
        if left == right:
            continue
        verdict = evidence.supports(pair.left, pair.right)
        if verdict is None:
            band.append(pair)
        if not verdict:
            continue
        sides = members.setdefault(left, [pair.left]), members.setdefault(right, [pair.right])
        if any(evidence.supports(a, b) is False for a in sides[0] for b in sides[1]):
            continue
        links.join(pair.left, pair.right, f"{pair.kind}; their rows agree and nothing contradicts")
        members[links.find(left)] = sides[0] + sides[1]
    return [pair for pair in band if links.find(pair.left) != links.find(pair.right)]


async def _link_by_model(
    table: Table,
    relation: Relation,
    place: int,
    encoded: Encoded,
    band: Sequence[VariantPair],
    links: Links,
    options: Options,
    model: Model | None,
    naming: Naming,
) -> None:
    column = table.columns[place]
    joined: dict[int, list[int]] = {}
    waiting = _remembered(table.name, column.name, encoded, band, links, options, model, naming, joined)
    allowed = len(waiting) if options.max_calls is None else max(0, options.max_calls - naming.calls) * _PAIRS_A_CALL
    asked = waiting[: min(allowed, len(encoded.codes))] if model is not None else []
    if model is not None and asked:
        quotes = _quotes(relation, column.name, encoded, {c for p, _ in asked for c in (p.left, p.right)})
        shown = [
            NamePair(str(encoded.examples[p.left]), str(encoded.examples[p.right]), quotes[p.left], quotes[p.right])
            for p, _ in asked
        ]
        verdicts, calls = await match_names(model, column.name, column.description, shown, _PAIRS_A_CALL)
        naming.calls += calls
        for (pair, signature), verdict in zip(asked, verdicts, strict=True):
            if not verdict:
                continue
            if verdict == "unsure":
                naming.settlements.append(Settlement(open_signature(signature, model), LEFT_OPEN, "the model is unsure"))
                continue
            same = verdict == "same"
            reason = f"{pair.kind}; the model says that they are {'one' if same else 'two'}"
            naming.settlements.append(Settlement(signature, int(same), reason))
            if same:
                _join(links, joined, encoded.examples, pair, reason)
    if left := len(waiting) - len(asked):
        naming.decisions.append(_left_apart(f"{table.name}.{column.name}", left, encoded, waiting[-1][0]))


def _left_apart(subject: str, count: int, encoded: Encoded, pair: VariantPair) -> Choice:
    """The decision about pairs that no model was asked about, with one of them as the example."""
    example = f"{encoded.examples[pair.left]!r} and {encoded.examples[pair.right]!r} ({pair.kind})"
    why = f"nothing in their rows tells, and no model was asked; for one, {example}"
    return Choice(subject, f"{count} pairs of names left apart", why)


def _remembered(
    table: str,
    column: str,
    encoded: Encoded,
    band: Sequence[VariantPair],
    links: Links,
    options: Options,
    model: Model | None,
    naming: Naming,
    joined: dict[int, list[int]],
) -> list[tuple[VariantPair, str]]:
    """Join what a model held to be one in an earlier run; returns the pairs that nobody was asked about, signed."""
    known = {s.signature: s for s in options.settled}
    waiting = []
    for pair in band:
        signature = _signature(table, column, encoded, pair)
        remembered = known.get(signature) or (known.get(open_signature(signature, model)) if model else None)
        if remembered is None:
            waiting.append((pair, signature))
            continue
        naming.settlements.append(remembered)
        if remembered.choice == 1:
            _join(links, joined, encoded.examples, pair, remembered.reason)
    return waiting


def _join(
    links: Links, joined: dict[int, list[int]], examples: Sequence[Scalar], pair: VariantPair, reason: str
) -> None:
    """Join two forms that a model holds to be one, unless that would chain forms that cannot be one name."""
    left, right = links.find(pair.left), links.find(pair.right)
    sides = joined.get(left, [pair.left]), joined.get(right, [pair.right])
    if left != right and all(related(examples[a], examples[b]) for a in sides[0] for b in sides[1]):
        links.join(pair.left, pair.right, reason)
        joined[links.find(pair.left)] = sides[0] + sides[1]


def open_signature(signature: str, model: Model) -> str:
    """Under which a model's "cannot tell" is remembered: another model may be able to."""
    return f"{signature}:{model.name}"


def _signature(table: str, column: str, encoded: Encoded, pair: VariantPair) -> str:
    forms = sorted((str(encoded.examples[pair.left]), str(encoded.examples[pair.right])))
    return hashlib.sha256("\x1f".join(("name", table, column, *forms)).encode()).hexdigest()[:24]


def _quotes(relation: Relation, column: str, encoded: Encoded, wanted: set[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for index, code in enumerate(encoded.codes.tolist()):
        if code in wanted and code not in found:
            source = relation.source(index, column)
            found[code] = source.quote or source.printed
    return found


def _apply(table: Table, relation: Relation, place: int, links: Links, options: Options, naming: Naming) -> None:
    name, encoded = table.columns[place].name, naming.encoded[place]
    variants = variants_of(encoded, links, options.normalize, name)
    reasons = {int(variants.clusters[c]): _RESPELLED for c in encoded.respelled} | variants.reasons
    if not reasons:
        return
    naming.variants[name] = variants
    examples = tuple(encoded.examples[r] for r in variants.representative)
    naming.encoded[place] = Encoded(apply_variants(encoded.codes, variants), examples)
    rows: dict[int, list[int]] = {cluster: [] for cluster in reasons}
    for index, code in enumerate(encoded.codes.tolist()):
        if code >= 0 and (cluster := int(variants.clusters[code])) in rows:
            rows[cluster].append(index)
    values = relation.column(name)
    for cluster, members in rows.items():
        canonical = encoded.examples[int(variants.representative[cluster])]
        ids = tuple(relation.row_ids[i] for i in members)
        before = tuple(dict.fromkeys(values[i] for i in members))
        sql = set_sql(table.name, f"{name}_canonical", canonical, ids)
        naming.repairs.append(Repair("canonicalize", ids, name, before, canonical, sql, reasons[cluster]))
