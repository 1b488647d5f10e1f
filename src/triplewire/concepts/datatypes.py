"""XML Schema's tree of datatypes, which is part of every concept model."""

from __future__ import annotations

from pyoxigraph import NamedNode

from triplewire.rdf.terms import RDF, RDFS, TW, XSD

NUMBER = TW.Number

_DERIVED = {
    "anyAtomicType": "string boolean decimal float double duration dateTime time date gYearMonth gYear gMonthDay gDay "
    "gMonth hexBinary base64Binary anyURI QName NOTATION",
    "decimal": "integer",
    "integer": "nonPositiveInteger long nonNegativeInteger",
    "nonPositiveInteger": "negativeInteger",
    "long": "int",
    "int": "short",
    "short": "byte",
    "nonNegativeInteger": "unsignedLong positiveInteger",
    "unsignedLong": "unsignedInt",
    "unsignedInt": "unsignedShort",
    "unsignedShort": "unsignedByte",
    "string": "normalizedString",
    "normalizedString": "token",
    "token": "language NMTOKEN Name",
    "Name": "NCName",
    "NCName": "ID IDREF ENTITY",
    "duration": "yearMonthDuration dayTimeDuration",
    "dateTime": "dateTimeStamp",
}


def datatype_tree() -> dict[NamedNode, set[NamedNode]]:
    """Each datatype's direct parents, ``tw:Number`` above the numeric ones and ``rdfs:Literal`` above all."""
    parents = {XSD[child]: {XSD[parent]} for parent, children in _DERIVED.items() for child in children.split()}
    for numeric in (XSD.decimal, XSD.float, XSD.double):
        parents[numeric].add(NUMBER)
    for top in (XSD.anyAtomicType, NUMBER, RDF.langString, RDF.XMLLiteral, RDF.HTML, RDF.JSON):
        parents[top] = {RDFS.Literal}
    return parents
