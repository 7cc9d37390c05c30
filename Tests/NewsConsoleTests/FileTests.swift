import Foundation
import MediaFiles
import News
import NewsAPI
import NewsStore
import TestSupport
import Testing

@Suite struct FileTests {
  private static func png(_ name: String = "fog.png", seed: UInt64 = 1) -> FormFile {
    FormFile(name: name, type: "image/png", content: SampleMedia.png(seed: seed))
  }

  @Test("Files that a form sends are stored and shown, with their thumbnails and names")
  func upload() async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      let form = try await browser.get("/console/files").form("/console/files")
      let page = try await browser.submit(form, files: [Self.png("fog.png"), Self.png("sea.png", seed: 2)])
      #expect(page.status == 200 && page.target == "/console/files?done=uploaded")
      #expect(try page.texts(ofClass: "good") == ["The files were uploaded."])
      let facts = "<span>image/png</span><span>1 kB</span><span>640 × 480</span><time datetime=\"20"
      #expect(page.text.ranges(of: facts).count == 2)
      #expect(try Set(page.texts(ofClass: "name")) == ["fog.png", "sea.png"])
      #expect(try page.texts(ofClass: "empty").isEmpty)
      let pictures = try page.scan.all("img").compactMap { $0["src"] }
      #expect(pictures.count == 2)
      #expect(try page.scan.all("a").filter { $0["class"] == "picture" }.compactMap { $0["href"] } == pictures)
      for picture in pictures {
        let file = try await browser.get(picture)
        #expect(file.status == 200 && file["Content-Type"] == "image/png")
        #expect(file["Cache-Control"] == "private, no-cache" && file["X-Content-Type-Options"] == "nosniff")
        #expect(try await console.browser().get(picture).status == 303)
        #expect(try await console.server.get(picture.replacing("/console/files/", with: "/v1/media/")).status == 404)
      }
    }
  }

  @Test(
    "Files of other types are refused with a sentence, whatever they are called",
    arguments: [
      ("x.png", "image/png", "<script>alert(1)</script>"), ("x.svg", "image/svg+xml", "<svg xmlns='x'/>"),
      ("x.html", "text/html", "<!doctype html>"), ("x.png", "image/png", "plain"),
    ])
  func refusedTypes(name: String, type: String, content: String) async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      let file = FormFile(name: name, type: type, content: Data(content.utf8))
      let page = try await browser.submit(try await browser.get("/console/files").form("/console/files"), files: [file])
      #expect(page.status == 415)
      #expect(try page.texts(ofClass: "bad").count == 1 && page.texts(ofClass: "good").isEmpty)
      var form = try await browser.get("/console/items/new").editor
      form["title"] = "Typed title"
      let editor = try await browser.submit(form, "save", files: [file])
      #expect(editor.status == 415)
      #expect(try editor.editor["title"] == "Typed title")
      #expect(try editor.texts(ofClass: "bad") == ["These files were refused:"])
      #expect(try editor.scan.all("li").contains { $0.text.hasPrefix("\(name): This type of file is not accepted.") })
      #expect(try await console.store.editorialMedia(MediaQuery()).files.isEmpty)
      #expect(try await console.store.editorialItems(EditorialQuery()).items.isEmpty)
    }
  }

  @Test("A file that is larger than allowed is refused, and nothing of it is kept")
  func tooLarge() async throws {
    try await ConsoleServer.with(settings: { $0.maximumMediaBytes = 2000 }) { console in
      let browser = try await console.signedIn()
      let file = FormFile(name: "x.png", type: "image/png", content: SampleMedia.png(bytes: 2001))
      let list = try await browser.get("/console/files")
      #expect(list.text.contains("At most 2 kB each."))
      // The status is that of the last refusal.
      let note = FormFile(name: "note.txt", type: "text/plain", content: Data("plain".utf8))
      let page = try await browser.submit(try list.form("/console/files"), files: [note, file])
      #expect(page.status == 413)
      #expect(try await console.store.editorialMedia(MediaQuery()).files.isEmpty)
    }
  }

  @Test("A storage that fails for one file of a form prevents no other, and the page names the file")
  func failedFile() async throws {
    try await ConsoleServer.with(settings: { settings in
      settings.media = settings.media.map { FullStorage(storage: $0, failing: [2, 5]) }
    }) { console in
      let browser = try await console.signedIn()
      let files = ["one.png", "two.png", "three.png"].enumerated().map { Self.png($1, seed: UInt64($0)) }
      let page = try await browser.submit(try await browser.get("/console/files").form("/console/files"), files: files)
      #expect(page.status == 507)
      #expect(try page.scan.all("li").contains { $0.text.hasPrefix("two.png: ") })
      #expect(try Set(page.texts(ofClass: "name")) == ["one.png", "three.png"])
      var form = try await browser.get("/console/items/new").editor
      form["title"] = "Typed title"
      let editor = try await browser.submit(form, "save", files: [files[0], files[1], files[2]])
      #expect(editor.status == 507)
      #expect(try editor.editor["title"] == "Typed title")
      #expect(try editor.scan.all("li").contains { $0.text.hasPrefix("two.png: ") })
    }
  }

  @Test("A form without a file, and a key that may not upload, store nothing")
  func nothingToStore() async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      let form = try await browser.get("/console/files").form("/console/files")
      let page = try await browser.submit(form)
      #expect(page.status == 422)
      #expect(try page.texts(ofClass: "bad") == ["Choose a file first."])
      #expect(try page.texts(ofClass: "empty").count == 1 && page.text.contains("Choose a file first.</div>"))
      let writer = try await console.signedIn([.itemsPublish], name: "writer")
      var editor = try await writer.get("/console/items/new").editor
      #expect(try await writer.post(editor, to: "/console/files", files: [Self.png()]).status == 403)
      editor["text"] = "Fog lifts."
      #expect(try await writer.submit(editor, "save", files: [Self.png()]).status == 403)
      #expect(try await console.store.editorialMedia(MediaQuery()).files.isEmpty)
    }
  }

  @Test("Files are attached to an item by upload and by choice, described, shown in the preview, and removed")
  func attachments() async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      let files = try await browser.get("/console/files").form("/console/files")
      _ = try await browser.submit(files, files: [Self.png("old.png", seed: 2)])
      let old = try #require(try await console.store.editorialMedia(MediaQuery()).files.first).media.id
      let empty = try await browser.get("/console/items/new")
      let choices = try empty.scan.all("input").filter { $0["name"] == "choose" }.map { $0["value"] }
      #expect(choices == [old.uuidString.lowercased()])
      var form = try empty.editor
      form["text"] = "Fog lifts."
      form.add("choose", old.uuidString.lowercased())
      let attached = try await browser.submit(form, "attach", files: [Self.png()])
      #expect(attached.status == 200)
      #expect(try await console.store.editorialItems(EditorialQuery()).items.isEmpty)
      form = try attached.editor
      #expect(form["text"] == "Fog lifts." && form["attachment-1-url"] != nil && form["attachment-2-url"] == nil)
      form["attachment-0-alt"] = "Fog over the sea"
      form["attachment-0-credit"] = "Ben"
      let preview = try await browser.post(form, "edit", to: "/console/items/preview")
      let pictures = try preview.scan.all("img").compactMap { $0["src"] }
      #expect(pictures.count == 2 && pictures.allSatisfy { $0.hasPrefix("/console/files/") })
      #expect(try await browser.get(pictures[0]).status == 200)
      var page = try await browser.submit(form, "save")
      var item = try #require(try await console.store.editorialItems(EditorialQuery()).items.first)
      #expect(item.item.attachments.count == 2)
      #expect(item.item.attachments[0].alt == "Fog over the sea" && item.item.attachments[0].credit == "Ben")
      #expect(item.item.attachments.allSatisfy { $0.width == 640 && $0.height == 480 && $0.sha256 != nil })
      form = try page.editor
      form.add("attachment-0-remove", "on")
      page = try await browser.submit(form, "save")
      item = try await console.store.editorialItem(item.item.id)
      #expect(item.item.attachments.map(\.mediaID) == [old])
      #expect(try page.editor["attachment-1-url"] == nil)
    }
  }

  @Test("A file that is attached twice is attached once")
  func attachedTwice() async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      var form = try await browser.get("/console/items/new").editor
      form["text"] = "Fog lifts."
      form = try await browser.submit(form, "attach", files: [Self.png()]).editor
      form = try await browser.submit(form, "attach", files: [Self.png("other.png")]).editor
      #expect(form["attachment-0-url"] != nil && form["attachment-1-url"] == nil)
    }
  }

  @Test("Files are filtered by their use, and name the items that use them")
  func uses() async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      let files = try await browser.get("/console/files").form("/console/files")
      _ = try await browser.submit(files, files: [Self.png("unused.png", seed: 2)])
      var form = try await browser.get("/console/items/new").editor
      form["text"] = "Fog lifts."
      _ = try await browser.submit(form, "save", files: [Self.png("used.png")])
      let item = try #require(try await console.store.editorialItems(EditorialQuery()).items.first)
      let used = try await browser.get("/console/files?used=true")
      #expect(try used.texts(ofClass: "name") == ["used.png"])
      #expect(try used.texts(ofClass: "published").isEmpty && used.text.contains("<span>Used in</span>"))
      let link = try #require(try used.scan.all("a").first { $0["href"] == ConsoleServer.path(item) })
      #expect(link.text == "Fog lifts.")
      let unused = try await browser.get("/console/files?used=false")
      #expect(try unused.texts(ofClass: "name") == ["unused.png"])
      #expect(unused.text.contains("<span>Unused</span>"))
    }
  }

  @Test("Up to three items that use a file are named by their titles, in their languages, as far as the key has access")
  func titles() async throws {
    try await ConsoleServer.with { console in
      try await console.server.makeTopics(["harbour", "sport"])
      let browser = try await console.signedIn()
      let form = try await browser.get("/console/files").form("/console/files")
      _ = try await browser.submit(form, files: [Self.png()])
      let id = try #require(try await console.store.editorialMedia(MediaQuery()).files.first).media.id
      func item(_ fields: String, _ topic: String) async throws {
        let attachment = #"{"url": "/v1/media/\#(id.uuidString.lowercased())", "type": "image/png"}"#
        _ = try await console.item(#"\#(fields), "topics": ["\#(topic)"], "attachments": [\#(attachment)]"#)
      }
      try await item(#""title": "Vierte", "text": "x", "state": "draft""#, "sport")
      try await item(#""title": "Nebel <b>hebt</b> sich", "text": "x", "language": "de""#, "harbour")
      try await item(#""text": "The ferry is back after eleven weeks. It sails at six.""#, "sport")
      let writer = try await console.signedIn([.itemsWrite, .mediaWrite], topics: ["sport"])
      #expect(
        try Self.uses(await writer.get("/console/files")) == ["The ferry is back after eleven weeks.", "Vierte"])
      try await item(#""title": "Newest", "text": "x", "state": "review""#, "harbour")
      let page = try await browser.get("/console/files")
      try page.check()
      #expect(
        try Self.uses(page) == [
          "Newest", "The ferry is back after eleven weeks.", "Nebel <b>hebt</b> sich", "and in others",
        ])
      #expect(try page.scan.all("a").contains { $0["lang"] == "de" && $0.text == "Nebel <b>hebt</b> sich" })
      #expect(try page.texts(ofClass: "published") == ["Public"])
      let photographer = try await console.signedIn([.mediaWrite]).get("/console/files")
      try photographer.check()
      #expect(try Self.uses(photographer).isEmpty)
      #expect(photographer.text.contains("<span>In use</span>"))
    }
  }

  /// The texts of the list of items that use a file.
  private static func uses(_ page: ConsolePage) throws -> [String] {
    let tags = try page.scan.tags
    guard let start = tags.firstIndex(where: { $0["class"] == "uses" }) else { return [] }
    return tags[(start + 1)...].prefix { $0.name == "li" || $0.name == "a" }.map(\.text).filter { !$0.isEmpty }
  }

  @Test("A file without a name is named by the time of its upload")
  func unnamed() async throws {
    try await ConsoleServer.with { console in
      let key = try await console.store.createKey(name: "camera", permissions: [.mediaWrite])
      let upload = try await console.server.send(
        "POST", "/v1/editorial/media", key: key, headers: [("Content-Type", "image/png")],
        file: SampleMedia.png())
      #expect(upload.status == 201)
      let page = try await console.signedIn().get("/console/files")
      let name = try #require(try page.texts(ofClass: "name").first)
      #expect(name.wholeMatch(of: /File of .*[0-9]{4}.*[0-9]{2}:[0-9]{2}.*/) != nil, "\(name)")
      #expect(try page.scan.all("img").map { $0["alt"] } == [name])
      // The time is not repeated beside the name.
      #expect(try page.scan.all("time").isEmpty)
    }
  }

  @Test("A long name of a file is cut on pages")
  func longName() async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      let file = Self.png(String(repeating: "fog ", count: 40) + ".png")
      let page = try await browser.submit(try await browser.get("/console/files").form("/console/files"), files: [file])
      let name = try #require(try page.texts(ofClass: "name").first)
      #expect(name.hasPrefix("fog fog") && name.hasSuffix("…") && name.unicodeScalars.count <= 81, "\(name)")
    }
  }

  @Test("Files that are refused are named with the reason, and the others are stored and shown")
  func someRefused() async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      let form = try await browser.get("/console/files").form("/console/files")
      let note = FormFile(name: "note.txt", type: "text/plain", content: Data("plain".utf8))
      let page = try await browser.submit(form, files: [Self.png("fog.png"), note, Self.png("sea.png", seed: 2)])
      try page.check(status: 415)
      #expect(try page.texts(ofClass: "good") == ["Files uploaded: 2."])
      #expect(try page.texts(ofClass: "bad") == ["These files were refused:"])
      let reason = "This type of file is not accepted. Pictures, sound, video and PDF are."
      #expect(try page.scan.all("li").map(\.text).contains("note.txt: \(reason)"))
      #expect(try Set(page.texts(ofClass: "name")) == ["fog.png", "sea.png"])
    }
  }

  @Test("A server that stores no files says so")
  func noStorage() async throws {
    try await ConsoleServer.with(settings: { $0.media = nil }) { console in
      let browser = try await console.signedIn()
      let page = try await browser.get("/console/files")
      #expect(page.status == 200 && page.text.contains("TIDINGS_MEDIA_DIRECTORY"))
      #expect(try page.scan.tags.allSatisfy { $0["type"] != "file" })
      var form = try await browser.get("/console/items/new").editor
      form["text"] = "Fog lifts."
      #expect(try await browser.submit(form, "save", files: [Self.png()]).status == 501)
    }
  }
}

/// A storage that is full for some uploads, by their numbers.
private struct FullStorage: MediaStorage {
  let storage: any MediaStorage
  let failing: Set<Int>
  private let uploads = Count()

  init(storage: any MediaStorage, failing: Set<Int>) { (self.storage, self.failing) = (storage, failing) }

  var labelled: (any LabelledStorage)? { storage.labelled }

  func begin() async throws -> any MediaUpload {
    if failing.contains(uploads.next()) { throw MediaError.full }
    return try await storage.begin()
  }

  func open(_ digest: MediaDigest) async throws -> MediaFile? { try await storage.open(digest) }
  func digests() async throws -> [MediaDigest] { try await storage.digests() }

  func remove(_ digests: [MediaDigest], storedBefore date: Date) async throws -> Int {
    try await storage.remove(digests, storedBefore: date)
  }

  func sweep() async throws -> Int { try await storage.sweep() }
}
