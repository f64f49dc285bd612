"""Cardinal numbers in words, for the languages other than English and those with Han numerals, as
far as texts print numbers in words.

A language's line names its numbers in order; forms of one number are joined by "/". A number that
no table holds is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from sliders.values.cldr import letter_by_letter
from sliders.values.vocabulary import SCALE_WORDS, SCALES

_TO_19 = {
    "de": (
        "null ein/eins/eine/einen/einem/einer/eines zwei drei vier fünf sechs sieben acht neun "
        "zehn elf zwölf dreizehn vierzehn "
        "fünfzehn sechzehn siebzehn achtzehn neunzehn"
    ),
    "fr": (
        "zéro un/une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze "
        "quinze seize dix-sept dix-huit dix-neuf"
    ),
    "es": (
        "cero uno/una/un dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce "
        "quince dieciséis diecisiete "
        "dieciocho diecinueve"
    ),
    "it": (
        "zero uno/una/un due tre quattro cinque sei sette otto nove dieci undici dodici tredici "
        "quattordici quindici sedici diciassette diciotto diciannove"
    ),
    "pt": (
        "zero um/uma dois/duas três quatro cinco seis sete oito nove dez onze doze treze "
        "catorze/quatorze quinze dezesseis/dezasseis dezessete/dezassete dezoito dezenove/dezanove"
    ),
    "nl": (
        "nul een/één twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien "
        "vijftien zestien zeventien achttien negentien"
    ),
    "pl": (
        "zero jeden/jedna/jedno/jednego/jednej dwa/dwie/dwóch/dwaj trzy/trzech/trzej "
        "cztery/czterech/czterej pięć/pięciu sześć/sześciu siedem/siedmiu osiem/ośmiu "
        "dziewięć/dziewięciu dziesięć/dziesięciu jedenaście/jedenastu dwanaście/dwunastu "
        "trzynaście/trzynastu czternaście/czternastu piętnaście/piętnastu szesnaście/szesnastu "
        "siedemnaście/siedemnastu osiemnaście/osiemnastu dziewiętnaście/dziewiętnastu"
    ),
    "cs": (
        "nula jeden/jedna/jedno/jednoho/jedné dva/dvě/dvou tři/tří čtyři/čtyř pět/pěti šest/šesti "
        "sedm/sedmi osm/osmi devět/devíti deset/deseti jedenáct/jedenácti dvanáct/dvanácti "
        "třináct/třinácti čtrnáct/čtrnácti patnáct/patnácti šestnáct/šestnácti sedmnáct/sedmnácti "
        "osmnáct/osmnácti devatenáct/devatenácti"
    ),
    "ru": (
        "ноль/нуль один/одна/одно/одного/одной два/две/двух три/трёх/трех четыре/четырёх/четырех "
        "пять/пяти шесть/шести семь/семи восемь/восьми девять/девяти десять/десяти "
        "одиннадцать/одиннадцати двенадцать/двенадцати тринадцать/тринадцати "
        "четырнадцать/четырнадцати пятнадцать/пятнадцати шестнадцать/шестнадцати "
        "семнадцать/семнадцати восемнадцать/восемнадцати девятнадцать/девятнадцати"
    ),
    "ar": (
        "صفر واحد/واحدة اثنان/اثنين/اثنتان/اثنتين ثلاثة/ثلاث أربعة/أربع خمسة/خمس ستة/ست سبعة/سبع "
        "ثمانية/ثماني/ثمان تسعة/تسع عشرة/عشر"
    ),
    "hi": (
        "शून्य एक दो तीन चार पाँच/पांच छह/छः सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह/पन्द्रह सोलह "
        "सत्रह अठारह उन्नीस"
    ),
    "ja": "",
    "ko": "영 하나/한 둘/두 셋/세 넷/네 다섯 여섯 일곱 여덟 아홉 열",
}
_TENS = {
    "de": "zwanzig dreißig/dreissig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "fr": (
        "vingt trente quarante cinquante soixante soixante-dix/septante "
        "quatre-vingts/quatre-vingt/huitante quatre-vingt-dix/nonante"
    ),
    "es": "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    "it": "venti trenta quaranta cinquanta sessanta settanta ottanta novanta",
    "pt": "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa",
    "nl": "twintig dertig veertig vijftig zestig zeventig tachtig negentig",
    "pl": (
        "dwadzieścia/dwudziestu trzydzieści/trzydziestu czterdzieści/czterdziestu "
        "pięćdziesiąt/pięćdziesięciu sześćdziesiąt/sześćdziesięciu siedemdziesiąt/siedemdziesięciu "
        "osiemdziesiąt/osiemdziesięciu dziewięćdziesiąt/dziewięćdziesięciu"
    ),
    "cs": (
        "dvacet/dvaceti třicet/třiceti čtyřicet/čtyřiceti padesát/padesáti šedesát/šedesáti "
        "sedmdesát/sedmdesáti osmdesát/osmdesáti devadesát/devadesáti"
    ),
    "ru": (
        "двадцать/двадцати тридцать/тридцати сорок/сорока пятьдесят/пятидесяти "
        "шестьдесят/шестидесяти семьдесят/семидесяти восемьдесят/восьмидесяти девяносто/девяноста"
    ),
    "ar": (
        "عشرون/عشرين ثلاثون/ثلاثين أربعون/أربعين خمسون/خمسين ستون/ستين سبعون/سبعين "
        "ثمانون/ثمانين تسعون/تسعين"
    ),
    "hi": "बीस तीस चालीस पचास साठ सत्तर अस्सी नब्बे",
}
_HUNDREDS = {
    "de": (
        "hundert/einhundert zweihundert dreihundert vierhundert fünfhundert sechshundert "
        "siebenhundert achthundert neunhundert"
    ),
    "fr": (
        "cent deux-cents/deux-cent trois-cents/trois-cent quatre-cents/quatre-cent "
        "cinq-cents/cinq-cent six-cents/six-cent sept-cents/sept-cent huit-cents/huit-cent "
        "neuf-cents/neuf-cent"
    ),
    "es": (
        "cien/ciento doscientos/doscientas trescientos/trescientas cuatrocientos/cuatrocientas "
        "quinientos/quinientas seiscientos/seiscientas setecientos/setecientas "
        "ochocientos/ochocientas novecientos/novecientas"
    ),
    "it": (
        "cento duecento trecento quattrocento cinquecento seicento settecento ottocento novecento"
    ),
    "pt": (
        "cem/cento duzentos/duzentas trezentos/trezentas quatrocentos/quatrocentas "
        "quinhentos/quinhentas seiscentos/seiscentas "
        "setecentos/setecentas oitocentos/oitocentas novecentos/novecentas"
    ),
    "nl": (
        "honderd tweehonderd driehonderd vierhonderd vijfhonderd zeshonderd zevenhonderd "
        "achthonderd negenhonderd"
    ),
    "pl": (
        "sto/stu dwieście/dwustu trzysta/trzystu czterysta/czterystu pięćset/pięciuset "
        "sześćset/sześciuset siedemset/siedmiuset "
        "osiemset/ośmiuset dziewięćset/dziewięciuset"
    ),
    "cs": "sto dvě-stě tři-sta čtyři-sta pět-set šest-set sedm-set osm-set devět-set",
    "ru": (
        "сто/ста двести/двухсот триста/трёхсот/трехсот четыреста/четырёхсот пятьсот/пятисот "
        "шестьсот/шестисот семьсот/семисот "
        "восемьсот/восьмисот девятьсот/девятисот"
    ),
    "ar": (
        "مئة/مائة مئتان/مئتين/مائتان/مائتين ثلاثمائة/ثلاثمئة أربعمائة/أربعمئة خمسمائة/خمسمئة "
        "ستمائة/ستمئة سبعمائة/سبعمئة ثمانمائة/ثمانمئة تسعمائة/تسعمئة"
    ),
    "hi": "सौ दो-सौ तीन-सौ चार-सौ पाँच-सौ/पांच-सौ छह-सौ सात-सौ आठ-सौ नौ-सौ",
}
_THOUSAND = {
    "de": "tausend/eintausend",
    "fr": "mille",
    "es": "mil",
    "it": "mille",
    "pt": "mil",
    "nl": "duizend",
    "pl": "tysiąc",
    "cs": "tisíc",
    "ru": "тысяча",
    "ar": "ألف",
    "hi": "हज़ार/हजार",
}
_GLUED = {"de": "und", "nl": "en"}
"""The syllable that joins a unit before its ten in one word ("dreiundzwanzig")."""
_JOINED = {"es": ("y",), "pt": ("e",), "pl": (), "cs": (), "ru": (), "fr": ("et",)}
"""The word that may join a ten and its unit in two words ("treinta y tres")."""
_HUNDRED_GAPS = {
    "de": ("", " "),
    "nl": ("", " "),
    "it": ("", " "),
    "pt": (" ", " e "),
    "ar": (" و", " "),
}
"""The words that may stand between hundreds and the rest."""
_GROUPS = {
    "de": "Dutzend=12 beide=2 beiden=2 Paar=2",
    "fr": "douzaine=12 dizaine=10 centaine=100 paire=2",
    "es": "docena=12 decena=10 ambos=2 ambas=2",
    "it": "dozzina=12 decina=10 centinaio=100 entrambi=2 entrambe=2",
    "pt": "dúzia=12 dezena=10 ambos=2 ambas=2",
    "nl": "dozijn=12 beide=2",
    "pl": "tuzin=12 obaj=2 oba=2 obie=2",
    "cs": "tucet=12 oba=2 obě=2",
    "ru": "дюжина=12 десяток=10 оба=2 обе=2",
    "ar": "كلا=2",
    "hi": "दर्जन=12 दोनों=2",
}
_PARTS = {
    "de": "halb halbe halben halber halbes",
    "fr": "demi demie",
    "es": "medio media",
    "it": "mezzo mezza",
    "pt": "meio meia",
    "nl": "half halve",
    "pl": "pół",
    "cs": "půl",
    "ar": "نصف",
    "hi": "आधा आधे आधी",
}
"""Words for half of the scale that follows, with or without an article ("eine halbe Million")."""
_ADDED = {
    "de": "und ein halb",
    "fr": "et demi/et demie",
    "es": "y medio/y media",
    "it": "e mezzo/e mezza",
    "pt": "e meio/e meia",
    "nl": "en een half/en een halve",
    "pl": "i pół",
    "cs": "a půl",
    "ru": "с половиной",
    "ar": "ونصف/و نصف",
}
"""Words that add a half of the thing counted: "deux et demi", "3 millones y medio"."""
_MIXED = {
    "de": "anderthalb=1.5",
    "nl": "anderhalf=1.5 anderhalve=1.5",
    "pl": "półtora=1.5 półtorej=1.5",
    "ru": (
        "полтора=1.5 полторы=1.5 полутора=1.5 полмиллиона=500000 "
        "полмиллиарда=500000000 полтысячи=500"
    ),
    "cs": "půldruhého=1.5",
    "hi": "डेढ़=1.5 डेढ=1.5 ढाई=2.5 अढ़ाई=2.5",
}
_MOVED = {"साढ़े": 0.5, "साढे": 0.5, "सवा": 0.25, "पौने": -0.25}
"""Hindi words that change the number behind them; सवा and पौने before a scale mean 1.25 and
0.75.
"""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words at characters `start` to `end` (exclusive) that spell the number `value`."""

    start: int
    end: int
    value: float


def _forms(line: str) -> list[list[str]]:
    return [[_key(form) for form in forms.split("/")] for forms in line.split()]


def _key(printed: str) -> str:
    return letter_by_letter(printed).replace("ß", "ss").replace("-", " ").replace("\u093c", "")


@cache
def phrases(language: str) -> Mapping[str, float]:
    """Every number below a thousand, and the first thousands, in words of a language, folded,
    with blanks for hyphens.
    """
    small = {
        form: number
        for number, forms in enumerate(_forms(_TO_19.get(language, "")))
        for form in forms
    }
    units = {form: number for form, number in small.items() if 0 < number < 10}
    found: dict[str, float] = dict(small)
    for number, forms in enumerate(_forms(_TENS.get(language, "")), start=2):
        for ten in forms:
            found[ten] = 10 * number
            found.update(_with_units(language, ten, 10 * number, units, small))
    below = dict(found)
    for number, forms in enumerate(_forms(_HUNDREDS.get(language, "")), start=1):
        for hundred in forms:
            found[hundred] = 100 * number
            for gap in _HUNDRED_GAPS.get(language, (" ",)):
                found.update(
                    {
                        f"{hundred}{gap}{rest}": 100 * number + value
                        for rest, value in below.items()
                        if value
                    }
                )
    if language in _GLUED:
        joint = (
            ("einhalb",) if language == "de" else ("enhalf", "eneenhalf", "enhalve", "eneenhalve")
        )
        found.update(
            {f"{unit}{half}": number + 0.5 for unit, number in units.items() for half in joint}
        )
    for thousand in (form for forms in _forms(_THOUSAND.get(language, "")) for form in forms):
        found.setdefault(thousand, 1000)
    return found


_Words = Mapping[str, int]


def _with_units(
    language: str, ten: str, value: int, units: _Words, small: _Words
) -> Iterator[tuple[str, int]]:
    gaps = (" ", *(f" {joint} " for joint in _JOINED.get(language, ())))
    for unit, number in units.items():
        if language in _GLUED:
            yield f"{unit}{_GLUED[language]}{ten}", value + number
        elif language == "it":
            yield (ten[:-1] if unit[0] in "uo" else ten) + unit, value + number
        elif language == "ar":
            yield f"{unit} و{ten}", value + number
        else:
            yield from ((f"{ten}{gap}{unit}", value + number) for gap in gaps)
            if language == "es" and value == 20:
                yield f"veinti{unit}", value + number
    if language == "fr" and value in (60, 80):
        yield from (
            (f"{ten}{gap}{unit}", value + number)
            for unit, number in small.items()
            if 10 < number < 20
            for gap in gaps
        )


@cache
def _groups(language: str) -> Mapping[str, float]:
    pairs = (
        pair.split("=")
        for pair in f"{_GROUPS.get(language, '')} {_MIXED.get(language, '')}".split()
    )
    return {_key(word): float(value) for word, value in pairs}


_TOKEN = re.compile(r"[^\W\d_\u0900-\u097f]+|[\u0900-\u097f]+")
_LONGEST = 6


def spelled_words(text: str, language: str) -> list[Phrase]:
    """Returns the numbers that words of the text spell in a language, longest phrases first; groups
    ("Dutzend") count too.
    """
    known = phrases(language).keys() | _groups(language).keys()
    tokens = (
        [(match.start(), match.end(), _key(match[0])) for match in _TOKEN.finditer(text)]
        if known
        else []
    )
    found: list[Phrase] = []
    index = 0
    while index < len(tokens):
        used, value = _read(
            [token for _, _, token in tokens[index : index + 2 * _LONGEST]], language
        )
        if value is not None:
            found.append(Phrase(tokens[index][0], tokens[index + used - 1][1], value))
        index += used
    return found


_Used = tuple[int, float | None]
"""The number of tokens that were read, and the number that they spell; None when they spell no
number that code knows.
"""


def _read(tokens: list[str], language: str) -> _Used:
    """The number that the first of some folded tokens spell, with its scale and its half."""
    if language == "hi" and tokens[0] in _moves():
        return _moved(tokens)
    used, value = _cardinal(tokens, language)
    halves = _halves(language)
    if used == 1 and value == 1 and tokens[1:2] and tokens[1] in halves:  # "eine halbe Million"
        tokens, skipped = tokens[1:], 1
    else:
        skipped = 0
    if tokens[0] in halves:
        scale = _scale_at(tokens, 1, language)
        return (skipped + 2, 0.5 * scale) if scale else (skipped + 1, None)
    if value is None:
        return 1, None
    added = _added(tokens[used:], language)
    value, used, scale = (
        value + 0.5 * bool(added),
        used + added,
        _scale_at(tokens, used + added, language),
    )
    if not scale:
        return used, value
    later = 0 if added else _added(tokens[used + 1 :], language)
    return used + 1 + later, (value + 0.5 * bool(later)) * scale


def _cardinal(tokens: list[str], language: str) -> _Used:
    known, groups = phrases(language), _groups(language)
    for count in range(min(_LONGEST, len(tokens)), 0, -1):
        words = " ".join(tokens[:count])
        value = known.get(words, groups.get(words))
        if value is not None:
            return count, value
    return 0, None


def _moved(tokens: list[str]) -> _Used:
    """Reads a number behind साढ़े, सवा or पौने, which change it by a part of its scale."""
    step = _moves()[tokens[0]]
    value = phrases("hi").get(tokens[1]) if tokens[1:] else None
    small = value if value is not None and 0 < value < 100 else None
    if small is None and step == _moves()[_key("साढ़े")]:
        return 1, None
    used = 1 if small is None else 2
    scale = _scale_at(tokens, used, "hi")
    if small is None and not scale:
        return 1, None
    return used + bool(scale), ((small or 1) + step) * (scale or 1)


_HALF = re.compile(
    rf"(?<!\w)(?:{'|'.join((*' '.join(_PARTS.values()).split(), *_MOVED))}|половин|четверт|quart|"
    "cuarto)|半|반(?!\\w)|half|halb",
    re.IGNORECASE,
)


def names_half(text: str) -> bool:
    """True when words name a half or a quarter in one of these languages; code may not know a half
    of which number.
    """
    return _HALF.search(text) is not None


def _scale_at(tokens: list[str], at: int, language: str) -> int:
    """The factor of the scale word at a place, 0 for none; a hundred is one in Hindi alone."""
    word = tokens[at] if at < len(tokens) else ""
    return 100 if language == "hi" and word == _key("सौ") else _scales().get(word, 0)


def _added(tokens: list[str], language: str) -> int:
    """How many tokens say "and a half"."""
    forms = (_key(form).split() for form in _ADDED.get(language, "").split("/") if form)
    return next((len(form) for form in forms if tokens[: len(form)] == form), 0)


@cache
def _scales() -> Mapping[str, int]:
    return {_key(word): SCALES[scale] for word, scale in SCALE_WORDS.items()}


@cache
def _moves() -> Mapping[str, float]:
    return {_key(word): step for word, step in _MOVED.items()}


@cache
def _halves(language: str) -> frozenset[str]:
    return frozenset(map(_key, _PARTS.get(language, "").split()))


_ADDED_FORMS = "|".join(form for forms in _ADDED.values() for form in forms.split("/"))
_ADDED_TO_DIGITS = re.compile(
    rf"\s?(?:and a half|{_ADDED_FORMS})(?![\w-]|\sambiente)", re.IGNORECASE
)
_MOVED_DIGITS = re.compile(rf"(?<!\w)({'|'.join(_MOVED)})\s$")


def with_its_half(text: str, start: int, end: int, factor: int) -> tuple[int, int, float]:
    """Returns the start and the end of a number in digits, including words for a half around it,
    and the amount that these words add.

    `factor` is the scale that is printed with it: "3 millones y medio", "साढ़े 3 लाख".
    """
    if match := _ADDED_TO_DIGITS.match(text, end):
        return start, match.end(), 0.5 * factor
    if match := _MOVED_DIGITS.search(text, max(0, start - 8), start):
        return match.start(), end, _MOVED[match[1]] * factor
    return start, end, 0.0


def spelled_anywhere(text: str) -> frozenset[float]:
    """Returns the numbers that words of the text spell in any language of this module, without
    words that are also English words.
    """
    spelled = (
        phrase for language in (*_TO_19, *_GROUPS) for phrase in spelled_words(text, language)
    )
    return frozenset(
        phrase.value
        for phrase in spelled
        if text[phrase.start : phrase.end].lower() not in _ENGLISH_TOO
    )


_ENGLISH_TOO = frozenset("once cent due sei elf mil set dos sto nove mille do pair".split())
