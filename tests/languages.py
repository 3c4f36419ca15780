"""A sentence in each of several languages, by code."""

TEXTS = {
    "en": "The ferry left the harbour at noon, and nobody who was on it had seen the storm.",
    "fr": "Le bac a quitté le port à midi, et personne à bord n'avait vu venir la tempête.",
    "de": "Die Fähre verließ den Hafen am Mittag, und niemand an Bord hatte den Sturm gesehen.",
    "tr": "Feribot öğle vakti limandan ayrıldı ve gemideki hiç kimse fırtınayı görmemişti.",
    "zh": "渡船中午离开了港口，船上没有人看到暴风雨的到来，大家都很惊讶，也没有人说话。",
    "ar": "غادرت العبارة الميناء عند الظهر ولم يكن أحد على متنها قد رأى العاصفة قادمة.",
}
