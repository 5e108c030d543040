"""What tests of the page have in common: when it is ready, where its points are, how something is chosen or dropped."""

import json

import numpy as np

#: The page has a film of what it shows; and of points that were changed just now.
READY = "document.documentElement.dataset.ready === 'yes' && !play.shown.stale"
SETTLED = "play.shown.film !== null && !play.shown.stale"
#: All that was asked is answered.
ANSWERED = "document.documentElement.dataset.ready === 'yes' && !play.link.waiting.size"
DROP = """(() => { const data = new DataTransfer();
    data.items.add(new File([%s], %s, {type: "text/csv"}));
    document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true})); })()"""


def ready(page):
    """Wait for the first film, and stop it."""
    page.wait_for(READY)
    page.evaluate("play.player.pause()")


def place(page, x, y):
    """Return where a point of the picture is on the screen, having scrolled there."""
    return page.evaluate(
        f"""(() => {{ document.getElementById("picture").scrollIntoView({{ block: "center", behavior: "instant" }});
        const box = document.getElementById("picture").getBoundingClientRect(), {{ at }} = play.view();
        return [box.x + at.x({x}), box.y + at.y({y})]; }})()"""
    )


def drawn(page):
    """Return the points of the page: (x, y, whether it is positive)."""
    return [(one["x"], one["y"], one["positive"]) for one in page.evaluate("play.points.list")]


def colour_of(page, role):
    """Return a colour of the page as three numbers."""
    colour = page.evaluate(f"color({role!r})")
    return np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)])


def choose(page, select, value):
    """Choose an entry of a list."""
    change = "e.dispatchEvent(new Event('change'));"
    page.evaluate(f"(e => {{ e.value = {value!r}; {change} }})(document.getElementById({select!r}))")


def drop_text(page, text, name):
    """Have a file fall onto the page."""
    page.evaluate(DROP % (json.dumps(text), json.dumps(name)))
