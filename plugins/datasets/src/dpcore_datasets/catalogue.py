"""Every data set of this package: name, class, one sentence. Imports nothing, so that listing stays light."""

from __future__ import annotations

CATALOGUE = {
    "adult": (
        "uci:Adult",
        "Adult (US census 1994): does a person earn over 50,000 dollars? 48,842 rows, 6 numeric and "
        "8 nominal attributes with taxonomies, 2 classes.",
    ),
    "mushroom": (
        "uci:Mushroom",
        "Mushroom: edible or poisonous? 8,124 rows, 22 nominal attributes, 2 classes.",
    ),
    "nursery": (
        "uci:Nursery",
        "Nursery: rank of a nursery-school application. 12,960 rows, 8 nominal attributes, 5 classes.",
    ),
    "skin": (
        "uci:Skin",
        "Skin segmentation: does a pixel show skin? 245,057 rows, 3 numeric attributes, 2 classes.",
    ),
    "optdigits": (
        "uci:Optdigits",
        "Optical digits: which digit is written on an 8x8 grid? 5,620 rows, 64 numeric attributes, 10 classes.",
    ),
    "votes": (
        "uci:Votes",
        "US House votes of 1984: democrat or republican? 435 rows, 16 nominal attributes, 2 classes.",
    ),
    "spect": (
        "uci:Spect",
        "SPECT heart images: normal or abnormal? 267 rows, 22 binary attributes, 2 classes.",
    ),
    "seeds": (
        "uci:Seeds",
        "Wheat kernels: which of three varieties? 210 rows, 7 numeric attributes, 3 classes.",
    ),
    "glass": (
        "uci:Glass",
        "Glass fragments: which type of glass? 214 rows, 9 numeric attributes, 6 classes.",
    ),
    "bank": (
        "uci:Bank",
        "Bank marketing calls: does the client subscribe a deposit? 41,188 rows, 10 numeric and 10 nominal "
        "attributes, 2 classes.",
    ),
    "census_income": (
        "uci:CensusIncome",
        "Census-Income (KDD, 1994 and 1995): income over 50,000 dollars? 299,285 rows, 7 numeric and "
        "33 nominal attributes, 2 classes.",
    ),
    "covertype": (
        "uci:Covertype",
        "Forest cover: which of seven tree types grows here? 581,012 rows, 10 numeric and "
        "2 nominal attributes, 7 classes.",
    ),
    "iris": (
        "bundled:Iris",
        "Iris plants: which of three species? 150 rows, 4 numeric attributes, 3 classes; no download.",
    ),
    "wine": (
        "bundled:Wine",
        "Wines by their chemistry: which cultivar? 178 rows, 13 numeric attributes, 3 classes; no download.",
    ),
    "digits": (
        "bundled:Digits",
        "Handwritten digits, the test part of optdigits: 1,797 rows, 64 numeric attributes, 10 classes; no download.",
    ),
    "breast_cancer": (
        "bundled:BreastCancer",
        "Breast cancer Wisconsin (diagnostic): malignant or benign? 569 rows, 30 numeric attributes, "
        "2 classes; no download.",
    ),
}

EMBEDDED = tuple(name for name, (factory, _) in CATALOGUE.items() if factory.startswith("bundled:"))
"""The sets that need neither a folder nor a network."""
