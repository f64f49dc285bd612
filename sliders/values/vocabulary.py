"""Words and abbreviations of numbers, scales and currencies, by their meaning (names of months come
from CLDR), and words that do not tell one name or heading from another.
"""

from __future__ import annotations

import re

# Number words (English).

UNITS: dict[str, int] = {
    word: value
    for value, word in enumerate(
        (
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
            "fifteen sixteen seventeen eighteen nineteen"
        ).split()
    )
}
TENS: dict[str, int] = {
    word: 10 * (index + 2)
    for index, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split())
} | {"fourty": 40}
POWERS: dict[str, int] = {
    "hundred": 10**2,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
GROUPS: dict[str, int] = {"dozen": 12, "pair": 2}
_UNIT_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
    "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
).split()
ORDINALS: dict[str, int] = (
    {word: value for value, word in enumerate(_UNIT_ORDINALS)}
    | {word[:-1] + "ieth": value for word, value in TENS.items()}
    | {"hundredth": 100, "thousandth": 1000, "millionth": 10**6}
)
DAYS: dict[str, int] = {word: value for word, value in ORDINALS.items() if 0 < value <= 31} | {
    f"{tens}-{unit}": 10 * count + value
    for count, tens in ((2, "twenty"), (3, "thirty"))
    for value, unit in enumerate(_UNIT_ORDINALS[:10])
    if 0 < value <= (9 if count == 2 else 1)
}
"""Days of a month in words ("twenty-first")."""
ZERO_WORDS = frozenset(
    "no none nil nobody nothing kein keine keiner aucun aucune ningun ninguna".split()
)
"""Words for the number 0, folded."""
IMPLIED: dict[str, int] = {
    **dict.fromkeys(ZERO_WORDS, 0),
    **dict.fromkeys("a an single sole once ein eine einer un une uno una".split(), 1),
    **dict.fromkeys("both twice couple beide deux dos".split(), 2),
}
"""Words that imply a small number without naming it, folded. They are enough to support a value,
but not to read one.
"""

SCALES: dict[str, int] = {
    "hundreds": 10**2,
    "thousands": 10**3,
    "ten thousands": 10**4,
    "lakhs": 10**5,
    "millions": 10**6,
    "crores": 10**7,
    "hundred millions": 10**8,
    "billions": 10**9,
    "hundred billions": 10**11,
    "trillions": 10**12,
}
"""The factor of each scale, by its canonical name."""
_SCALE_WORDS = (
    ("hundreds", "hundred hundreds"),
    (
        "thousands",
        (
            "thousand thousands tausend tsd mille milliers mil miles k duizend dzd tys tysiąc "
            "tysiące tysięcy tis tisíc tisíce "
            "mila migliaia milhares тыс тысяча тысячи тысяч тысячах ألف آلاف الف ألفا हज़ार हजार "
            "duizenden tisících tysiącach"
        ),
    ),
    (
        "millions",
        (
            "million millions mio mln mn mm millionen millones millón m milione milioni milhão "
            "milhões miljoen miljoenen milion "
            "miliona miliony milionów milionu milionů milionach milionech milióny млн миллион "
            "миллиона миллионов миллионах مليون ملايين مليونا "
            "मिलियन दशलक्ष"
        ),
    ),
    (
        "billions",
        (
            "billion billions bn bln b mrd mia milliarde milliarden milliard milliards mld mlrd "
            "miliardo miliardi bilhão bilhões "
            "miljard miljarden miliard miliarda miliardy miliardów miliardach miliardech млрд "
            "миллиард миллиарда миллиардов миллиардах مليار مليارات "
            "بليون अरब mil_millones mil_milhões miles_de_millones mil_mln"
        ),
    ),
    ("hundred billions", "खरब"),
    (
        "trillions",
        "lakh_crore लाख_करोड़ trillion trillions tn trn billionen billón billones bilione bilioni "
        "biliões biljoen bilion biliony bilionów "
        "bilionu trilhão trilhões трлн триллион триллиона триллионов تريليون ترليون",
    ),
    ("lakhs", "lakh lakhs lac lacs लाख"),
    ("crores", "crore crores करोड़ करोड़"),
)
SCALE_WORDS: dict[str, str] = {
    word.replace("_", " ").rstrip("."): scale
    for scale, words in _SCALE_WORDS
    for word in words.split()
}
"""Words and abbreviations after a number, by the scale that they mean (lower case)."""
SPELLED_SCALES = frozenset(SCALE_WORDS) - set(
    "hundreds mille milliers mil miles k mm m b mila".split()
)
"""The scale words that can stand apart from the number in any language; `k`, `m`
and `b` must touch it.
"""
OWN_SCALES: dict[str, dict[str, str]] = {
    "es": {"mil": "thousands", "miles": "thousands"},
    "pt": {"mil": "thousands", "mi": "millions", "bi": "billions"},
    "it": {"mila": "thousands", "mille": "thousands"},
    "fr": {"mille": "thousands", "milliers": "thousands", "md": "billions", "mds": "billions"},
    "cs": {"mil": "millions"},
}
"""Scale words that mean a scale in their own language alone."""

CURRENCY_SYMBOLS: dict[str, str] = dict(
    pair.split("=")
    for pair in (
        "US$=USD A$=AUD AU$=AUD C$=CAD CA$=CAD NZ$=NZD HK$=HKD S$=SGD R$=BRL €=EUR £=GBP ¥=¥ ₹=INR "
        "₩=KRW ₽=RUB ₺=TRY ₫=VND ₱=PHP ฿=THB ₪=ILS ₴=UAH ₦=NGN RM=MYR Rs.=INR Rs=INR Rp=IDR zł=PLN "
        "Kč=CZK Fr.=CHF $=$ руб.=RUB руб=RUB zl=PLN kr.=kr kr=kr"
    ).split()
)
"""Printed symbol to ISO code. A bare dollar sign stays "$": a score of currencies print it."""
CURRENCY_CODES = frozenset(
    (
        "USD EUR GBP JPY CNY INR CHF CAD AUD NZD SEK NOK DKK PLN CZK HUF RUB TRY BRL MXN ZAR SGD "
        "HKD KRW MYR IDR THB PHP VND ILS AED SAR QAR KWD BHD OMR JOD NGN KES EGP MAD TND ARS CLP "
        "COP PEN TWD RMB UAH RON BGN ISK PKR LKR KZT"
    ).split()
)
CURRENCY_NAMES: dict[str, str] = {
    word: code
    for code, words in (
        (
            "USD",
            (
                "us_dollars us_dollar u.s._dollars u.s._dollar us-dollar 美元 美金 "
                "米ドル 미국달러 미달러"
            ),
        ),
        ("EUR", "euro euros евро 欧元 歐元 ユーロ 유로 يورو यूरो eura eurech"),
        (
            "$",
            (
                "dollar dollars dólar dólares dollaro dollari dolar dolary dolarów dolarů dolarech "
                "dolarach доллар доллара долларов "
                "долларах ドル 달러 دولار دولارا دولارات डॉलर"
            ),
        ),
        ("元", "元 圆 圓 块"),
        ("JPY", "円 yen"),
        ("CNY", "yuan yuans 人民币 人民幣"),
        ("HKD", "港元 港币"),
        ("KRW", "원"),
        ("GBP", "pounds_sterling 英镑"),
        ("pound", "pfund_sterling جنيه جنيها"),
        ("rupee", "rupee rupees रुपये रुपए रुपया रुपयों रु"),
        ("RUB", "рубль рубля рублей рублях рублём"),
        ("PLN", "złoty złote złotych"),
        ("CZK", "korun koruna koruny korunách"),
        ("MYR", "ringgit"),
        ("franc", "francs franc franken"),
        ("peso", "peso pesos"),
        ("BRL", "reais"),
        ("riyal", "ريال"),
        ("dirham", "درهم"),
        ("dinar", "دينار"),
    )
    for name in words.split()
    for word in (name.replace("_", " "),)
}
"""Names of currencies behind a number, by ISO code or by the family of currencies
that share the name.
"""
CURRENCY_FAMILIES: dict[str, frozenset[str]] = {
    family: frozenset(codes.split())
    for family, codes in (
        ("$", "USD AUD CAD NZD HKD SGD TWD MXN ARS CLP COP"),
        ("元", "CNY TWD HKD MOP SGD USD"),
        ("¥", "JPY CNY"),
        ("kr", "SEK NOK DKK ISK"),
        ("pound", "GBP EGP LBP SYP SDG"),
        ("rupee", "INR PKR LKR NPR MUR SCR"),
        ("franc", "CHF XOF XAF XPF RWF BIF DJF GNF KMF"),
        ("peso", "MXN ARS CLP COP PHP UYU DOP"),
        ("riyal", "SAR QAR OMR YER IRR"),
        ("dirham", "AED MAD"),
        ("dinar", "KWD BHD JOD TND DZD IQD LYD RSD"),
    )
}
"""Marks and names that several currencies share, with these currencies; a printed one means one of
them.
"""
PERCENTS = (
    r"%|‰|percent(?!age)|per\s?cent|pct|prozent|pour\s?cent|por\s?ciento|per\s?cento|por\s?cento|procent[a-zůuyów]{0,3}|процент[а-я]{0,3}|"
    "प्रतिशत|फीसदी|퍼센트|パーセント|个百分点|في المئة|في المائة|بالمئة|بالمائة"
)
"""Signs and words for hundredths behind a number, as alternatives of a pattern."""
MINUS_WORDS = (
    r"minus|mínus|минус|meno|(?<!au\s)moins|(?<!al\s)(?<!lo\s)(?<!ao\s)menos|마이너스|マイナス|"
    r"माइनस|ऋण|سالب|ناقص"
)
"""Words before a negative number, as alternatives of a pattern."""
YES = frozenset(
    (
        "yes y true t 1 ja oui si sì sí sim tak ano да x ✓ ✔ ☑ ☒ 是 有 はい 有り あり "
        "예 네 نعم हाँ हां"
    ).split()
)
"""Words that state a yes."""
NO = frozenset(
    "no n false f 0 nein non não nee nie ne нет ☐ 否 无 無 いいえ なし 아니오 아니요 لا नहीं".split()
)
"""Words that state a no."""
MONTH_CASES: tuple[str, ...] = (
    "январе феврале марте апреле мае июне июле августе сентябре октябре ноябре декабре",
    "январю февралю марту апрелю маю июню июлю августу сентябрю октябрю ноябрю декабрю",
    (
        "styczniu lutym marcu kwietniu maju czerwcu lipcu sierpniu wrześniu październiku "
        "listopadzie grudniu"
    ),
    "lednu únoru březnu dubnu květnu červnu červenci srpnu září říjnu listopadu prosinci",
)
"""Names of months in the cases that CLDR leaves out ("in March"), January to December."""


# Words that tell no name, heading or document from another.

STOPWORDS = frozenset("the a an of and for in on at to by de la le der die das und et y e".split())
"""Words without weight in a similarity. A similarity only suggests; it decides nothing."""
WORDS_OF_HEADINGS = frozenset(
    "table section chapter statement appendix note part document the of in and for a an".split()
)
"""Words of a Locate hint that do not belong to the name of the place."""
NEWER = re.compile(
    r"(?:the )?(?:newer|newest|later|latest|most recent|more recent)"
    r"(?: (?:document|filing|report|version|statement|source|figure|edition|release|file|"
    r"letter|one|value)s?)?"
)
"""Words of a user's rule that the newer document wins, folded."""
