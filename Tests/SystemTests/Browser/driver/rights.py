"""Keys with few rights: what each page shows, and that no control of a page leads to a refusal."""

import re

from selenium.webdriver.common.by import By

import checks
import day

# The title of a draft that only keys without restriction to topics may see.
SECRET = "Zeppelin over the council"
IDENTIFIER = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")

# The scopes and the topics of each key, and the parts of the console that its navigation has.
KEYS = {
    "sender": (["push:send"], [], ["pushes", "live", "sessions"]),
    "photographer": (["media:write"], [], ["files", "live", "sessions"]),
    "writer": (["items:write"], [], ["items", "files", "topics", "live", "sessions"]),
    "reporter": (["items:publish", "media:write"], ["sport"], ["items", "files", "topics", "live", "sessions"]),
}

# Follows links without leaving the page, and returns the path, the status and the HTML of each.
READ = """
  const [paths, done] = arguments;
  (async () => {
    const pages = [];
    for (const path of paths) {
      const response = await fetch(path);
      const isPage = (response.headers.get("Content-Type") ?? "").startsWith("text/html");
      pages.push([path, response.status, isPage ? await response.text() : ""]);
    }
    return pages;
  })().then(done, (error) => done(String(error)));
"""

# Sends each form of a page with each of its buttons, and returns the name, the target and the status of each answer.
# Each is sent by a new copy of the page, so that no form is outdated. A redirect has the status 0.
SEND = """
  const [path, done] = arguments;
  const load = async () => new DOMParser().parseFromString(await (await fetch(path)).text(), "text/html");
  const buttons = (page) => [...page.querySelectorAll('form[method="post"] button')].filter((button) =>
    !button.matches(":disabled") && !/(sign-out|[/]end)$/.test(button.form.getAttribute("action")));
  (async () => {
    const answers = [];
    const count = buttons(await load()).length;
    for (let index = 0; index < count; index += 1) {
      const button = buttons(await load())[index];
      // The first button may have changed the item, so that there are fewer now.
      if (!button) break;
      const form = button.form;
      for (const name of ["title", "text"]) {
        if (form.elements[name] && !form.elements[name].value) form.elements[name].value = "Sent by a test";
      }
      if (form.elements.publishAt) form.elements.publishAt.value = "2099-05-01T10:00";
      const data = new FormData(form, button);
      const isMultipart = form.getAttribute("enctype") === "multipart/form-data";
      const target = button.getAttribute("formaction") ?? form.getAttribute("action");
      const response = await fetch(target, {
        method: "POST", body: isMultipart ? data : new URLSearchParams(data), redirect: "manual",
      });
      answers.push([button.value || "send", target, response.status]);
    }
    return answers;
  })().then(done, (error) => done(String(error)));
"""


def make_key(editor, name, scopes, topics):
    """Creates a key with the form of the console and returns it."""
    editor.open("/console/keys/new")
    editor.fill("name", name)
    for field, values in (("scopes", scopes), ("topics", topics)):
        for value in values:
            editor.find(f'#key input[name="{field}"][value="{value}"]').click()
    editor.click("#key button.primary")
    return editor.text(".secret code")


def sign_in(editor, key):
    """Changes to the session of another key. The session of the former one stays, so that a list might show it."""
    editor.driver.delete_all_cookies()
    editor.open("/console/sign-in")
    editor.fill("key", key)
    editor.click("form.stack button")
    editor.expect(editor.has("form.account"), "signed in")


def script(editor, text, argument):
    result = editor.driver.execute_async_script(text, argument)
    editor.expect(isinstance(result, list), f"{argument}: {result}")
    return result


def kind(path):
    """Returns a path without what distinguishes the pages of a kind. The filter of a list makes another kind."""
    path, _, query = path.partition("?")
    path = re.sub(r"/topics/[a-z0-9-]+/", "/topics/{slug}/", IDENTIFIER.sub("{id}", path))
    return f"{path}?{query}" if re.fullmatch(r"(state|used)=\w+", query) else path


def links(page):
    """Returns the addresses on this server to which a page links."""
    found = re.findall(r'<a [^>]*href="(/[^"#]*)"', page)
    return list(dict.fromkeys(address.replace("&amp;", "&") for address in found))


def crawl(editor):
    """Reads all pages to which links lead, one of each kind for each kind of page that links to it.

    Returns the HTML by the path.
    """
    pages, followed = {}, set()
    waiting = [(None, "/console")]
    while waiting:
        source, path = waiting.pop(0)
        if path in pages or (source, kind(path)) in followed:
            continue
        followed.add((source, kind(path)))
        for address, status, html in script(editor, READ, [path]):
            editor.expect(status == 200 or not address.startswith("/console"), f"the link to {address} is {status}")
            editor.expect(SECRET not in html or not editor.is_restricted, f"{address} shows an item of another topic")
            pages[address] = html
            if address.startswith("/console"):
                waiting += [(kind(address), link) for link in links(html)]
    return {path: html for path, html in pages.items() if html and path.startswith("/console")}


def send_all(editor, pages):
    """Sends all forms of the pages with all their buttons. Those that end an item come last.

    Returns the names of the buttons in the editor.
    """
    actions = set()
    for path in sorted(pages, key=lambda path: (path.endswith(("/retract", "/erase")), path)):
        for action, target, status in script(editor, SEND, path):
            editor.expect(
                status in (0, 200, 409, 412, 422), f"{action} at {path}, which is sent to {target}, is {status}"
            )
            if kind(target) in ("/console/items", "/console/items/{id}"):
                actions.add(action)
    return actions


def inspect(editor, key, pages):
    """Checks a page of each kind at two widths, besides the first one, which is a redirect."""
    seen = set()
    for path in list(pages)[1:]:
        name = re.sub(r"[^a-z]+", "-", kind(path).removeprefix("/console").replace("{id}", "one")).strip("-") or "start"
        if name in seen:
            continue
        seen.add(name)
        checks.requested(editor.driver)
        editor.open(path)
        if path == "/console/live" and editor.javascript:
            editor.find("#live-pause").click()
        result = checks.inspect(
            editor.driver, editor.address, f"{key}-{name}", editor.pictures, widths=(360, 1400), schemes=("light",)
        )
        result["stops"], faults = checks.keyboard(editor.driver)
        result["faults"] += [f"keyboard: {fault}" for fault in faults]
        editor.report(**result)


def numbers(editor, name, newsroom):
    """Checks that the numbers of the pages are those of what the key may see."""
    editor.open("/console/sessions")
    keys = [title.text.split()[0] for title in editor.driver.find_elements(By.CSS_SELECTOR, ".rows .title")]
    editor.expect(keys == [name], f"the sessions of {keys}")
    editor.open("/console/live")
    editor.expect(not editor.has("#live-database"), "the database")
    if name in ("writer", "reporter"):
        editor.open("/console/items")
        counts = [int(count.text) for count in editor.driver.find_elements(By.CSS_SELECTOR, ".tabs .count")]
        items = newsroom.must("GET", "/v1/editorial/items?limit=200")["items"]
        editor.expect(counts[0] == sum(counts[1:]) == len(items), f"{counts} of {len(items)} items")
    if name == "reporter":
        options = [option.get_attribute("value") for option in editor.driver.find_elements(By.CSS_SELECTOR, "#topic *")]
        editor.expect(options == ["", "sport"], f"the topics {options}")
        editor.open("/console/topics")
        lists = editor.driver.find_elements(By.CSS_SELECTOR, '.rows a[href*="topic="]')
        paths = [link.get_attribute("href").rpartition("=")[2] for link in lists]
        editor.expect(paths == ["sport"], f"the links to items of {paths}")
    if name in ("writer", "reporter", "photographer"):
        editor.open("/console/files")
        shown = len(editor.driver.find_elements(By.CSS_SELECTOR, ".grid > li"))
        files = newsroom.must("GET", "/v1/editorial/media?limit=200")["items"]
        editor.expect(shown == len(files), f"{shown} of {len(files)} files")
        editor.expect(editor.has("#upload") == (name != "writer"), "the form for files")


def use(editor, link, key):
    """Uses the console with each of the keys."""
    day.sign_in(editor, link, key)
    newsroom = editor.newsroom
    newsroom.fill()
    items = [("council", SECRET, "draft")]
    items += [("sport", f"Cup final, {state}", state) for state in ("draft", "review", "published")]
    for topic, title, state in items:
        item = {"title": title, "text": "Two to one.", "state": state, "topics": [topic]}
        newsroom.must("POST", "/v1/editorial/items", item)
    keys = {name: make_key(editor, name, scopes, topics) for name, (scopes, topics, _) in KEYS.items()}
    for name, (_, topics, sections) in KEYS.items():
        editor.is_restricted = bool(topics)
        sign_in(editor, keys[name])
        paths = [link.get_attribute("href") for link in editor.driver.find_elements(By.CSS_SELECTOR, "header nav a")]
        found = [path.rpartition("/")[2] for path in paths]
        editor.expect(found == sections, f"{name} has the parts {found}")
        pages = crawl(editor)
        inspect(editor, name, pages)
        numbers(editor, name, type(newsroom)(newsroom.address, keys[name]))
        actions = send_all(editor, pages)
        editor.report("used", name=name, count=len(pages), actions=sorted(actions))
