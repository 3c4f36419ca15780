"""Word lists for tokenization: facts about English spelling, no grammar.

All entries are in lower case; callers lowercase a word before looking it up.
"""

from __future__ import annotations

# A following period belongs to these words.
ABBREVIATIONS = frozenset(
    """
    mr mrs ms mx dr drs prof profs revd gen lt cmdr cdr cpl sgt capt maj brig gov sens reps
    messrs mme mlle mgr msgr esq jr sr st ste mt mts ft ave blvd hwy apt bldg dept univ inst
    assn assoc bros co corp inc ltd jan feb apr jun jul aug sep sept oct nov dec tue tues thu
    thur thurs vs etc viz approx esp incl resp vol vols pp ed eds ext tel attn eg ie oz lb lbs
    tsp tbsp yr yrs hr hrs mins wk wks ca cf al arrv lv dept govt est elev excl illus orig misc
    cont cllr ald fl arr edn edns abbr ln pkwy cres rte qt cu llc gmbh pty llp mfg intl natl
    dipl ariz ark calif colo conn fla kan ky mich minn mont neb nev okla tenn tex wis wyo spp sp
    subsp var div
    """.split()
)

# Abbreviations only if capitalised (or "fig", "eq"); in lower case most are ordinary words.
CAPITAL_ABBREVIATIONS = frozenset(
    """
    no nos art fig figs sec eq eqs ch chap rev hon col sen rep pres supt adm fr rd
    mon wed fri sat sun mar ala ga la ill ind md mass miss va vt wash pa penn que ont del
    ph eng trans para app ref op
    """.split()
) | frozenset("fig figs eq eqs nos".split())

# Fused forms → offsets at which their second (and third) word starts.
FUSED = {
    word.replace("|", ""): tuple(
        sum(map(len, word.split("|")[:index])) for index in range(1, word.count("|") + 1)
    )
    for word in """
    can|not gon|na wan|na got|ta out|ta lot|ta dun|no gim|me lem|me fin|na whad|dya
    do|nt does|nt did|nt ca|nt wo|nt is|nt was|nt are|nt were|nt have|nt has|nt had|nt ai|nt
    could|nt would|nt should|nt ar|nt must|nt need|nt
    i|m i|ve you|re you|ve you|ll they|re they|ve they|ll we|ve it|ll that|s there|s what|s he|s
    here|s a|lot a|while du|n|no
    """.split()
}

# Prefixes that stay attached at a hyphen: "non-smoker" is one word.
HYPHEN_PREFIXES = frozenset(
    """
    e re non mid anti co pre pro cross post over multi ex sub counter semi mini neo socio
    psycho inter intra micro macro un proto arch super ultra trans extra under meta bi tri uni
    quasi pseudo auto bio electro geo hydro hyper infra mono poly tele thermo de dis ab vice
    """.split()
) - {"vice", "ab", "bio", "auto", "under", "extra"}

# Suffixes that stay attached at a hyphen.
HYPHEN_SUFFIXES = frozenset("wise esque ish ever".split())

# Units that treebanks split from the number before them: "10k", "35mm", "7am".
UNITS = frozenset(
    """
    am pm k m mm cm km nm kg mg lb lbs ft bn mph kph hz khz mhz ghz kb mb gb tb hh hp
    hr hrs min mins sec secs ml watt watts volt volts kw mw gw kwh mwh ppm cc dpi rpm fps sq
    px pt pts yrs bps
    """.split()
)

# Units only after a currency sign ("$4b"); elsewhere such letters are part of a name ("3B", "5T").
MONEY_UNITS = frozenset("b t mn tn bln mln".split())

# Extensions that make a dotted name a file name.
FILE_ENDINGS = frozenset(
    """
    doc docx xls xlsx ppt pptx pdf txt rtf csv tsv json xml yaml yml html htm php asp aspx jsp
    jpg jpeg png gif bmp svg tif tiff mp3 mp4 wav avi mov mkv zip gz tar tgz rar exe dll bat sh
    py js ts css cpp java rb rs go md tex bib ini cfg conf log sql url toml ipynb jsx tsx webp epub
    ogg flac sqlite parquet conllu docm odt ods
    """.split()
)

# Top-level domains that make a dotted name a host name.
TOP_DOMAINS = frozenset(
    """
    com org net edu gov mil info biz int io uk de fr ca au ru jp eu nz za ie nl se dk ch cn kr br
    es pl cz fi mx gr hu pt ua tv cc tw hk sg ar cl tr il ae
    """.split()
)

# Further top-level domains, written in lower case.  Those that are short words (*so*, *me*) count
# only before a path: "nice.so we left" is no address.
NEW_DOMAINS = frozenset(
    """
    academy agency ai app art bank bar bike blog buzz cafe camp care cat center chat city cloud
    club codes coffee community company computer cool coop country courses cymru dating design
    dev digital direct directory domains dog earth education email energy engineer estate events
    exchange expert farm film finance fit fitness foundation fun fund fyi gallery games garden
    gay global green group guide guru health help hockey homes host hotel house icu ink
    institute international jobs kiwi lab land legal life limited link live llc lol london ltd
    maps market marketing mba media mobi money movie museum name network news ngo ninja nyc
    office ong online ooo org page paris partners parts party photo photography photos pics
    pictures pizza place plus press pro productions properties pub quest radio recipes report
    rest restaurant review reviews rocks rip run school science scot security services sex shop
    show site ski social software solutions space store stream studio style support surf swiss
    systems taxi team tech technology tips tools top tours town toys trade training travel
    university vegas ventures video vip vision wales wang watch web website wedding wiki win
    wine work works world wtf xyz yoga zone ac ad af ag al ar aw az ba bb bd bf bg bh bi bj bm
    bn bo bs bt bw by bz cd cf cg ci ck cm cu cv cx cy dj dm dz ec ee eg et fj fk fm fo ga gd ge
    gf gg gh gi gl gm gn gp gq gs gt gw gy hm hn hr ht id im iq ir is je jm jo ke kg kh ki km kp
    kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp mq mr ms mt mu
    mv mw my mz na nc ne nf ng ni np nr nu om pa pe pf pg ph pk pm pn pr ps pw py qa re ro rs rw
    sa sb sc sd sh si sk sl sm sn so sr ss st su sv sy sz td tf tg th tj tk tl tm tn to tt tz ug
    us uy uz va vc ve vg vi vn vu wf ws ye yt zm zw
    """.split()
)

# First components of Usenet newsgroup names, as in "rec.food.cooking".
NEWSGROUPS = frozenset("alt comp misc rec sci soc talk humanities".split())

# Two-letter words: a hyphen after one is a dash, whereas after other letters it marks a broken-off
# word ("th-").
SHORT_WORDS = frozenset(
    "am an as at be by do go he hi if in is it me my no of ok on or so to up us we".split()
)
