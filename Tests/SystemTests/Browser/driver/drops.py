"""Files that are dropped on the pages, as a browser sends them."""

import os
import tempfile

from selenium.webdriver.common.by import By

import day
from newsroom import picture

# Collects the sentences of the status, also across a change of the page.
RECORD = """
  const status = document.querySelector(arguments[0] + " [data-status]");
  sessionStorage.removeItem("statuses");
  new MutationObserver(() => {
    const seen = JSON.parse(sessionStorage.getItem("statuses") ?? "[]");
    sessionStorage.setItem("statuses", JSON.stringify([...seen, status.textContent]));
  }).observe(status, {childList: true, characterData: true, subtree: true});
"""


def drag(editor, selector, files, is_dropped=True):
    """Drags files from outside the browser to an area, and drops them there, or drags them to the corner of the page.

    Returns whether the area shows that it would take them.
    """
    area = editor.find(selector)
    editor.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", area)
    box = editor.driver.execute_script(
        "const box = arguments[0].getBoundingClientRect(); return [box.left + box.width / 2, box.top + 8]", area
    )
    # 1 is the operation of copying.
    data = {"items": [], "files": files, "dragOperationsMask": 1}
    position = {"x": box[0], "y": box[1], "data": data}
    for kind in ("dragEnter", "dragOver"):
        editor.driver.execute_cdp_cmd("Input.dispatchDragEvent", {"type": kind} | position)
    is_over = editor.driver.execute_script("return arguments[0].classList.contains('over')", area)
    if is_dropped:
        editor.driver.execute_cdp_cmd("Input.dispatchDragEvent", {"type": "drop"} | position)
    else:
        corner = {"type": "dragOver", "x": 1, "y": 1, "data": data}
        editor.driver.execute_cdp_cmd("Input.dispatchDragEvent", corner)
    return is_over


def set_upload_rate(editor, rate, is_offline=False):
    """Limits the uploads of the browser to a number of bytes per second; -1 for no limit."""
    conditions = {"offline": is_offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": rate}
    editor.driver.execute_cdp_cmd("Network.emulateNetworkConditions", conditions)


def percentages(editor):
    """Returns the numbers of the sentences that the status has had."""
    statuses = editor.driver.execute_script("return JSON.parse(sessionStorage.getItem('statuses') ?? '[]')")
    return [int("".join(filter(str.isdigit, text))) for text in statuses if "%" in text]


def shown_files(editor):
    return len(editor.driver.find_elements(By.CSS_SELECTOR, ".grid > li"))


def on_files_page(editor, pictures, another, text):
    editor.open("/console/files")
    editor.expect(drag(editor, "#upload", pictures, is_dropped=False), "the area shows that it takes files")
    editor.wait("the area is as before", lambda: not editor.has("#upload.over"))
    editor.driver.execute_script(RECORD, "#upload")
    set_upload_rate(editor, 400_000)
    page = editor.find("html")
    drag(editor, "#upload", pictures)
    editor.leave(page)
    set_upload_rate(editor, -1)
    editor.expect_notice("uploaded")
    editor.expect(shown_files(editor) == len(pictures), f"{shown_files(editor)} files are shown")
    seen = percentages(editor)
    editor.expect(seen == sorted(seen) and any(0 < number < 100 for number in seen), f"the progress {seen}")
    editor.report("dropped files", count=shown_files(editor))

    # A file of another type is refused with a sentence, and the page stays.
    editor.open("/console/files")
    drag(editor, "#upload", [text])
    editor.wait("the sentence", lambda: len(editor.text("#upload [data-status]")) > 20)
    editor.expect("%" not in editor.text("#upload [data-status]"), "a sentence in place of the progress")
    editor.report("refused file", text=editor.text("#upload [data-status]"))
    editor.open("/console/files")
    editor.expect(shown_files(editor) == len(pictures), "the file is not stored")

    # Of several files, those that can be stored are, and the page names the others.
    drag(editor, "#upload", [another, text])
    editor.wait("the accepted file", lambda: shown_files(editor) == len(pictures) + 1)
    editor.expect("notes.txt" in editor.text("#problem"), "the name of the refused file")
    editor.report("refused one of two", text=editor.text("#problem li"))

    # Dragged text is not for this area.
    drop_text = """
      const dataTransfer = new DataTransfer();
      dataTransfer.setData("text/plain", "text");
      const event = new DragEvent("drop", {dataTransfer, bubbles: true, cancelable: true});
      return document.querySelector("#upload").dispatchEvent(event);
    """
    editor.expect(editor.driver.execute_script(drop_text), "the script leaves dragged text to the browser")


def drop_beside(editor):
    """Drops a file on the heading of a page. Returns whether it is left to the browser, which would open it."""
    return editor.driver.execute_script("""
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["picture"], "beside.png", {type: "image/png"}));
      const event = new DragEvent("drop", {dataTransfer, bubbles: true, cancelable: true});
      return document.querySelector("h1").dispatchEvent(event);
    """)


def beside(editor, item):
    for path in ("/console/files", f"/console/items/{item}"):
        editor.open(path)
        editor.expect(not drop_beside(editor), "a file that is dropped beside the area is ignored")
    editor.open("/console/items")
    editor.expect(drop_beside(editor), "a page without an area leaves files to the browser")


def with_lost_connection(editor, item, file):
    """Drops a file while the server cannot be reached. The button sends it again."""
    editor.open("/console/files")
    set_upload_rate(editor, -1, is_offline=True)
    drag(editor, "#upload", [file])
    editor.wait("the sentence", lambda: len(editor.text("#upload [data-status]")) > 20)
    set_upload_rate(editor, -1)
    editor.report("kept file", text=editor.text("#upload [data-status]"))
    editor.click("#upload button")
    editor.expect_notice("uploaded")

    editor.open(f"/console/items/{item}")
    editor.fill("title", "Typed before the drop")
    set_upload_rate(editor, -1, is_offline=True)
    drag(editor, ".drop", [file])
    sentence = editor.find("#editor").get_attribute("data-failed")
    editor.wait("the sentence", lambda: editor.text("#editor [data-status]") == sentence)
    set_upload_rate(editor, -1)
    editor.click('button[value="attach"]')
    editor.expect(editor.has("#attachment-0-alt"), "the file is attached")
    editor.expect(editor.value("title") == "Typed before the drop", "the text that was typed")


def in_editor(editor, item, pictures, text):
    editor.open(f"/console/items/{item}")
    editor.fill("title", "Typed before the drop")
    editor.driver.execute_script(RECORD, "#editor")
    set_upload_rate(editor, 400_000)
    editor.expect(drag(editor, ".drop", pictures), "the area shows that it takes files")
    editor.wait("the dropped files", lambda: editor.has(f"#attachment-{len(pictures) - 1}-alt"))
    set_upload_rate(editor, -1)
    seen = percentages(editor)
    editor.expect(any(0 < number < 100 for number in seen), f"the progress {seen}")
    editor.expect(editor.value("title") == "Typed before the drop", "the text that was typed")
    editor.fill("attachment-1-alt", "The second picture")

    drag(editor, ".drop", [text])
    alert = editor.text
    editor.wait("the sentence", lambda: "PDF" in alert("[data-status]"))
    editor.expect(editor.find("#attachment-1-alt").get_property("value") == "The second picture", "the description")
    count = len(editor.driver.find_elements(By.CSS_SELECTOR, ".attachment"))
    editor.expect(count == len(pictures), f"{count} attachments")
    editor.expect("notes.txt" in alert("[data-status]"), "the name of the refused file")
    editor.report("refused attachment", text=alert("[data-status]"))

    editor.press_button("save")
    editor.expect_notice("saved")
    stored = editor.newsroom.item(item)["attachments"]
    editor.expect([file.get("alt") for file in stored] == [None, "The second picture"], f"{stored}")
    editor.report("dropped attachments", item=item, count=len(stored))


def use(editor, link, key):
    day.sign_in(editor, link, key)
    item = day.write(editor, "Night ferry returns", "The ferry is back.", "review")
    with tempfile.TemporaryDirectory(prefix="tidings-drop-") as folder:
        pictures = []
        for number in (1, 2, 3):
            pictures.append(os.path.join(folder, f"ferry-{number}.png"))
            with open(pictures[-1], "wb") as file:
                file.write(picture(hue=40 * number))
        text = os.path.join(folder, "notes.txt")
        with open(text, "w", encoding="utf-8") as file:
            file.write("A text.")
        another = pictures.pop()
        on_files_page(editor, pictures, another, text)
        beside(editor, item)
        with_lost_connection(editor, day.write(editor, "Fog", "The fog lifts.", "save"), another)
        in_editor(editor, item, pictures, text)
