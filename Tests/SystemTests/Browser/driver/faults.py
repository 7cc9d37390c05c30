"""A page with faults of all kinds, so that a check that finds nothing is noticed."""

import tempfile

import checks

PAGE = """<!doctype html>
<html><head><title>Faults</title><style>
  a { outline: none !important }
  #bar { position: fixed; bottom: 0; left: 0; width: 100%; height: 300px; background: white }
</style></head><body>
  <header class="top"><p class="brand">One</p><p class="account">Two</p></header>
  <img src="http://127.0.0.1:9/elsewhere.png">
  <p style="color: #bbb">Pale</p>
  <div style="width: 2000px">Wide</div>
  <a href="#somewhere">Without outline</a>
  <button tabindex="3">First, though second</button>
  <input style="margin-top: 700px">
  <div id="bar"></div>
</body></html>"""


def find(editor, link, key):
    with tempfile.NamedTemporaryFile("w", suffix=".html") as file:
        file.write(PAGE)
        file.flush()
        editor.driver.get(f"file://{file.name}")
        result = checks.inspect(editor.driver, editor.address, "faults", editor.pictures)
        result["stops"], faults = checks.keyboard(editor.driver)
        result["faults"] += [f"keyboard: {fault}" for fault in faults]
        editor.report(**result)
