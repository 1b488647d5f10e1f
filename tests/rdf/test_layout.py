"""Nothing lies on anything else, whatever the diagram."""

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from triplewire.rdf.layout import Link, Rect, Size, layered


@st.composite
def diagrams(draw):
    """Boxes of many sizes and any arrows between them: cycles, parallels, loops, parts with no connection."""
    names = [f"v{n}" for n in range(draw(st.integers(1, 12)))]
    sizes = {name: Size(draw(st.integers(10, 200)), draw(st.integers(10, 60))) for name in names}
    labels = st.none() | st.builds(Size, st.integers(5, 120), st.just(14))
    links = draw(st.lists(st.builds(Link, st.sampled_from(names), st.sampled_from(names), labels), max_size=24))
    root = draw(st.none() | st.sampled_from(names))
    return sizes, links, root, draw(st.sampled_from(["right", "down"]))


def on_curve(piece, steps=12):
    """Points on a run of cubic curves."""
    for n in range(0, len(piece) - 1, 3):
        a, b, c, d = piece[n : n + 4]
        for k in range(steps + 1):
            t, u = k / steps, 1 - k / steps
            weights = (u**3, 3 * u * u * t, 3 * u * t * t, t**3)
            yield tuple(sum(w * p[i] for w, p in zip(weights, (a, b, c, d), strict=True)) for i in (0, 1))


def inside(point, rect, edge=0.5):
    x, y = point
    return rect.x + edge < x < rect.x + rect.width - edge and rect.y + edge < y < rect.y + rect.height - edge


def shrunk(rect, by=0.01):
    return Rect(rect.x + by, rect.y + by, rect.width - 2 * by, rect.height - 2 * by)


@settings(deadline=None, max_examples=100)
@given(diagrams())
def test_no_two_boxes_or_labels_overlap(diagram):
    layout = layered(*diagram)
    rooms = [*layout.boxes.values(), *(route.label for route in layout.routes if route.label)]
    for one, two in combinations([shrunk(room) for room in rooms], 2):
        assert not one.overlaps(two)


@settings(deadline=None, max_examples=100)
@given(diagrams())
def test_no_arrow_runs_through_a_box_or_a_label(diagram):
    layout = layered(*diagram)
    rooms = [*layout.boxes.values(), *(route.label for route in layout.routes if route.label)]
    for route in layout.routes:
        for point in (point for piece in route.pieces for point in on_curve(piece)):
            assert not any(inside(point, room) for room in rooms)


@settings(deadline=None, max_examples=100)
@given(diagrams())
def test_every_arrow_goes_from_its_start_to_its_end(diagram):
    sizes, links, _, _ = diagram
    layout = layered(*diagram)
    assert layout.boxes.keys() == sizes.keys()
    for link, route in zip(links, layout.routes, strict=True):
        for point, name in ((route.pieces[0][0], link.start), (route.pieces[-1][-1], link.end)):
            box = layout.boxes[name]
            grown = Rect(box.x - 1, box.y - 1, box.width + 2, box.height + 2)
            assert inside(point, grown)
            assert not inside(point, box)
        assert (route.label is None) == (link.label is None)


@settings(deadline=None, max_examples=100)
@given(diagrams())
def test_everything_is_on_the_page(diagram):
    layout = layered(*diagram)
    for room in [*layout.boxes.values(), *(route.label for route in layout.routes if route.label)]:
        assert room.x >= -0.01
        assert room.y >= -0.01
        assert room.x + room.width <= layout.size.width + 0.01
        assert room.y + room.height <= layout.size.height + 0.01


@settings(deadline=None, max_examples=50)
@given(diagrams())
def test_the_same_diagram_is_laid_out_the_same_way(diagram):
    assert layered(*diagram) == layered(*diagram)


def test_a_tree_has_no_crossings_and_its_root_comes_first():
    sizes = {name: Size(40, 20) for name in "abcdefg"}
    links = [Link(parent, child) for parent, child in ("ag", "af", "gb", "fc", "gd", "fe")]
    boxes = layered(sizes, links, "a").boxes
    assert min(boxes, key=lambda name: boxes[name].x) == "a"
    assert sorted("bdce", key=lambda name: boxes[name].y) in (list("bdce"), list("cebd"))


def test_nothing_at_all_can_be_laid_out():
    assert layered({}, []).size == Size(0, 0)
