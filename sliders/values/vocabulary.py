"""Words and abbreviations of numbers, months, scales and currencies, by what they mean."""

from __future__ import annotations

# Number words (English).

UNITS: dict[str, int] = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
}
TENS: dict[str, int] = {
    word: 10 * (index + 2) for index, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split())
} | {"fourty": 40}
POWERS: dict[str, int] = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
GROUPS: dict[str, int] = {"dozen": 12, "pair": 2}
_UNIT_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth".split()
)
ORDINALS: dict[str, int] = (
    {word: value for value, word in enumerate(_UNIT_ORDINALS)}
    | {word[:-1] + "ieth": value for word, value in TENS.items()}
    | {"hundredth": 100, "thousandth": 1000, "millionth": 10**6}
)
DAYS: dict[str, int] = {
    word: value for word, value in ORDINALS.items() if 0 < value <= 31
} | {f"{tens}-{unit}": 10 * count + value for count, tens in ((2, "twenty"), (3, "thirty"))
     for value, unit in enumerate(_UNIT_ORDINALS[:10]) if 0 < value <= (9 if count == 2 else 1)}  # fmt: skip
"""Days of a month in words ("twenty-first")."""
ZERO_WORDS = frozenset("no none nil nobody nothing kein keine keiner aucun aucune ningun ninguna".split())
"""They state the number 0, folded."""
IMPLIED: dict[str, int] = {
    **dict.fromkeys(ZERO_WORDS, 0),
    **dict.fromkeys("a an single sole once ein eine einer un une uno una".split(), 1),
    **dict.fromkeys("both twice couple beide deux dos".split(), 2),
}
"""Words that carry a small number without being one, folded; enough to bear a value out, too little to read one."""

MONTHS: dict[str, int] = {}
"""Month names and abbreviations, English, German, French and Spanish, without accents."""
for _names in (
    "january february march april may june july august september october november december",
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "januar februar marz april mai juni juli august september oktober november dezember",
    "janner feber maerz apr mai jun jul aug sept okt nov dez",
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "janv fevr mars avr mai juin juil aout sept oct nov dec",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "ene febr mzo abr mayo juny jul ago set oct nov dic",
):
    for _number, _name in enumerate(_names.split(), start=1):
        MONTHS.setdefault(_name, _number)

SCALES: dict[str, int] = {
    "hundreds": 10**2, "thousands": 10**3, "lakhs": 10**5, "millions": 10**6, "crores": 10**7, "billions": 10**9,
    "trillions": 10**12,
}  # fmt: skip
"""The canonical names of scales and what they multiply by."""
SCALE_WORDS: dict[str, str] = {
    word: scale
    for scale, words in (
        ("hundreds", "hundred hundreds"),
        ("thousands", "thousand thousands tausend tsd mille milliers mil miles k"),
        ("millions", "million millions mio mln mn mm millionen millones m"),
        ("billions", "billion billions bn bln b mrd mia milliarde milliarden milliard milliards"),
        ("trillions", "trillion trillions tn trn"),
        ("lakhs", "lakh lakhs"),
        ("crores", "crore crores"),
    )
    for word in words.split()
}
"""Words and abbreviations after a number, by the scale that they mean (lower case)."""
SPELLED_SCALES = frozenset(SCALE_WORDS) - set("hundreds mille milliers mil miles k mm m b".split())
"""The scale words that can stand apart from the number; `k`, `m` and `b` must touch it."""

CURRENCY_SYMBOLS: dict[str, str] = dict(
    pair.split("=")
    for pair in (
        "US$=USD A$=AUD AU$=AUD C$=CAD CA$=CAD NZ$=NZD HK$=HKD S$=SGD R$=BRL €=EUR £=GBP ¥=JPY ₹=INR ₩=KRW ₽=RUB ₺=TRY "
        "₫=VND ₱=PHP ฿=THB ₪=ILS ₴=UAH ₦=NGN RM=MYR Rs.=INR Rs=INR Rp=IDR zł=PLN Kč=CZK Fr.=CHF $=$"
    ).split()
)
"""Printed symbol to ISO code. A bare dollar sign stays "$": a score of currencies print it."""
CURRENCY_CODES = frozenset(
    "USD EUR GBP JPY CNY INR CHF CAD AUD NZD SEK NOK DKK PLN CZK HUF RUB TRY BRL MXN ZAR SGD HKD KRW MYR IDR THB PHP VND "
    "ILS AED SAR NGN KES EGP ARS CLP COP TWD RMB UAH RON BGN".split()
)
CURRENCY_NAMES: dict[str, str] = {
    "dollar": "$", "dollars": "$", "us dollars": "USD", "u.s. dollars": "USD", "euro": "EUR", "euros": "EUR",
    "pounds sterling": "GBP", "yen": "JPY", "yuan": "CNY", "rupees": "INR", "ringgit": "MYR", "francs": "CHF",
}  # fmt: skip
DOLLAR_CODES = frozenset("USD AUD CAD NZD HKD SGD TWD".split())
