"""Units of measure with certain conversions, and the scale that a table's note states."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

_TABLE = """
length 0.001: mm millimetre millimetres millimeter millimeters
length 0.01: cm centimetre centimetres centimeter centimeters
length 1: m metre metres meter meters
length 1000: km kilometre kilometres kilometer kilometers
length 0.0254: in inch inches
length 0.3048: ft foot feet
length 0.9144: yd yard yards
length 1609.344: mi mile miles
length 1852: nmi nautical_mile nautical_miles
mass 0.000000000001: ng nanogram nanograms
mass 0.000000001: µg ug mcg microgram micrograms
mass 0.000001: mg milligram milligrams
mass 0.001: g gram grams
mass 1: kg kilogram kilograms kilo kilos
mass 1000: t tonne tonnes metric_ton metric_tons
mass 0.45359237: lb lbs pound pounds
mass 0.028349523125: oz ounce ounces
time 0.001: ms millisecond milliseconds
time 1: s sec secs second seconds
time 60: min mins minute minutes
time 3600: h hr hrs hour hours
time 86400: day days
time 604800: week weeks
calendar 1: month months
calendar 3: quarter quarters
calendar 12: year years yr yrs
area 0.0001: cm2 square_centimetres square_centimeters
area 1: m2 sqm square_metre square_metres square_meter square_meters
area 1000000: km2 square_kilometre square_kilometres square_kilometer square_kilometers
area 10000: ha hectare hectares
area 4046.8564224: acre acres
area 0.09290304: sqft ft2 sq_ft square_foot square_feet
area 2589988.110336: sq_mi square_mile square_miles
volume 0.001: ml millilitre millilitres milliliter milliliters
volume 0.000001: µl ul microlitre microlitres microliter microliters
volume 0.01: cl centilitre centilitres centiliter centiliters
volume 0.1: dl decilitre decilitres deciliter deciliters
volume 1: l litre litres liter liters
volume 100: hl hectolitre hectolitres hectoliter hectoliters
volume 1000: m3 cubic_metre cubic_metres cubic_meter cubic_meters
length/time 1: m/s mps metres_per_second meters_per_second
length/time 0.2777777777777777777777777778: km/h kmh kph kilometres_per_hour kilometers_per_hour
length/time 0.44704: mph miles_per_hour
length/time 0.5144444444444444444444444444: kn kts knot knots
substance 0.000000000001: pmol picomole picomoles
substance 0.000000001: nmol nanomole nanomoles
substance 0.000001: µmol umol micromole micromoles
substance 0.001: mmol millimole millimoles
substance 1: mol mole moles
energy 0.0002777777777777777777777777778: joule joules
energy 0.2777777777777777777777777778: kj kilojoule kilojoules
energy 277.7777777777777777777777778: mj megajoule megajoules
energy 277777.7777777777777777777778: gj gigajoule gigajoules
energy 1.162222222222222222222222222: kcal kilocalorie kilocalories
energy 1: wh
energy 1000: kwh
energy 1000000: mwh
energy 1000000000: gwh
energy 1000000000000: twh
temperature 1: °c celsius degrees_celsius
temperature 1.8: °f fahrenheit degrees_fahrenheit
percent 1: % percent pct percentage percentage_points prozent per_cent
percent 0.01: bp bps basis_point basis_points
percent 100: share fraction ratio proportion
coin 0.01: cent cents pence ct
"""
_UNITS: dict[str, tuple[str, Decimal]] = {
    name.replace("_", " "): (head.split()[0], Decimal(head.split()[1]))
    for line in _TABLE.strip().splitlines()
    for head, _, names in (line.partition(": "),)
    for name in names.split()
}
_MORE = (
    "µg ug b w kw mw gw hp v a hz khz mhz ghz kb mb gb tb px pt c f x bpm rpm pa kpa mpa bar psi nm"
).split()
TOUCHING = frozenset(
    [name for name in _UNITS if len(name) <= 4 and name.isascii()] + ["°", "c", "f"] + _MORE
)
"""Units that may touch their number ("5kg"); another word that touches it makes an
identifier ("345AN").
"""
_SHARES = frozenset(("share", "fraction", "ratio", "proportion"))
"""Units of a column that stores 12% as 0.12; behind a printed number they mean nothing."""
_AFTER = re.compile(r"(?:\s|-(?=[^\W\d_]))?(°?[^\W\d_][\w²³/]*(?: [^\W\d_]+){0,2}|°)")


def _key(unit: str) -> str:
    return (
        unit.strip()
        .strip(".")
        .lower()
        .replace("²", "2")
        .replace("³", "3")
        .replace("º", "°")
        .replace("\u03bc", "\u00b5")
    )


_Unit = tuple[str, Decimal]
"""The quantity that a unit measures ("length", "mass/volume"), and its size in the first unit of
this quantity.
"""


@lru_cache(maxsize=1024)
def _known(unit: str) -> _Unit | None:
    """The unit of the list, or a unit over another unit ("mg/dL"); None for any other."""
    key = _key(unit)
    if key in _UNITS:
        return _UNITS[key]
    above, bar, below = key.partition("/")
    over, under = _UNITS.get(above.strip()), _UNITS.get(below.strip())
    measured = f"{over[0]}/{under[0]}" if bar and over and under else ""
    if measured not in _RATIOS or over is None or under is None:
        return None
    return measured, over[1] / under[1]


_RATIOS = frozenset(
    (
        "mass/volume",
        "substance/volume",
        "length/time",
        "mass/mass",
        "volume/time",
        "mass/time",
        "energy/mass",
    )
)


def touching(unit: str) -> bool:
    """True when a unit may touch its number ("5kg", "139mg/dL")."""
    return _key(unit) in TOUCHING or ("/" in unit and _known(unit) is not None)


def unit_after(text: str, end: int) -> str:
    """The unit printed behind the number that ends at `end` ("feet", "km/h"),
    "" if no known one is.
    """
    match = _AFTER.match(text, end)
    if match is None:
        return ""
    words = match[1].split(" ")
    touches = match.start(1) == end
    for count in range(len(words), 0, -1):
        unit = " ".join(words[:count])
        known = (_known(unit) is not None and unit.lower() not in _SHARES) or (
            count == 1 and _key(unit) in TOUCHING
        )
        if known and (touches or _stands_apart(unit, len(words) == count)):
            return unit
    return ""


def _stands_apart(unit: str, last: bool) -> bool:
    """True when a word behind a number and a blank is a unit: "5 m", "5 in." and "5 kg"; not in "5
    in Ulm" and "flat 5 b".
    """
    if _key(unit) == "in":
        return last
    return len(unit) > 1 or unit in "mgtlhs"


def dimension(unit: str) -> str:
    """The quantity that a unit measures ("length"), "" for a unit without conversion."""
    known = _known(unit)
    return known[0] if known else ""


_NO_UNITS = ("", "percent", "coin")
_WORDS_TOO = frozenset("min in mi m g t h s l c f".split())
"""Units that are words or abbreviations of other things in a header."""


def names_unit(name: str, wanted: str) -> bool:
    """True when a name in a header or a label is a unit. False for an abbreviation that may be
    another word, when a unit of another quantity is wanted.
    """
    kind = dimension(name)
    return kind not in _NO_UNITS and (name.lower() not in _WORDS_TOO or kind == dimension(wanted))


def same_unit(one: str, other: str) -> bool:
    """True when two units are the same ("ft" and "feet", "points" and "point")."""
    a, b = _key(one), _key(other)
    if _known(one) or _known(other):
        return _known(one) == _known(other)
    return bool(a) and (a == b or a + "s" == b or b + "s" == a)


def convert(value: Decimal, printed: str, wanted: str) -> Decimal | None:
    """Returns `value` converted from the unit `printed` to the unit `wanted`; None when no certain
    conversion is known.
    """
    source, target = _known(printed), _known(wanted)
    if source is None or target is None or source[0] != target[0]:
        return None
    if source == target:
        return value
    if source[0] == "temperature":
        return (value - 32) / Decimal("1.8") if source[1] > 1 else value * Decimal("1.8") + 32
    return value * source[1] / target[1]
