internal import Foundation
internal import News
internal import SafeHTML

/// Converts raw entries into entries that can be stored, or rejects them.
struct EntryBuilder {
  static let maximumTextBytes = 256 * 1024
  static let maximumTitleBytes = 1024
  static let maximumSummaryBytes = 16 * 1024
  static let maximumHTMLBytes = 512 * 1024
  static let maximumAuthorBytes = 256
  /// The maximum numbers of authors and categories that are read. The rest is ignored, because each is parsed as
  /// markup.
  private static let maximumAuthors = 64
  private static let maximumLabels = 256
  static let maximumCategories = 16
  static let maximumLabelBytes = 256
  static let maximumAltBytes = 1024
  static let maximumAttachments = 32

  private struct Rejection: Error {
    let message: String
  }

  /// The date of an entry.
  private struct EntryDate {
    enum Origin {
      case entry
      /// The date of the whole feed, which may be a different one tomorrow.
      case feed
      /// The time at which the entry was first seen.
      case reading
    }

    var value: Date
    var origin: Origin

    /// The date if it is the entry's own.
    var own: Date? { origin == .entry ? value : nil }
  }

  private let missingDate: MissingDate
  /// The number of entries that have the time of this reading.
  private var undated = 0

  init(missingDate: MissingDate) {
    self.missingDate = missingDate
  }

  /// - Returns: One `entry` after any number of `reduced`, or one `skipped`.
  mutating func events(for raw: RawEntry) -> [FeedEvent] {
    do {
      var notes: [String] = []
      let entry = try entry(from: raw, notes: &notes)
      if entry.isDateFirstSeen { undated += 1 }
      return notes.map { .reduced(FeedProblem(position: raw.position, message: $0)) } + [.entry(entry)]
    } catch let rejection as Rejection {
      return [.skipped(FeedProblem(position: raw.position, message: rejection.message))]
    } catch {
      return [.skipped(FeedProblem(position: raw.position, message: "cannot be read"))]
    }
  }

  private func entry(from raw: RawEntry, notes: inout [String]) throws -> FeedEntry {
    let date = try date(of: raw, notes: &notes)
    let title = raw.title.map(Self.line)?.nonEmpty
    if let title, title.utf8.count > Self.maximumTitleBytes {
      throw Rejection(message: "the title has \(title.utf8.count) bytes, more than \(Self.maximumTitleBytes)")
    }
    let content = raw.content.map { Rendering($0, base: raw.base, address: raw.link) }
    let summary = raw.summary.map { Rendering($0, base: raw.base, address: raw.link) }
    // Tickers and link feeds consist of titles.
    let candidates = [raw.text.map(PlainText.cleaned), content?.text, summary?.text, title]
    guard let text = candidates.lazy.compactMap({ $0?.nonEmpty }).first else {
      throw Rejection(message: "has neither text nor title")
    }
    guard text.utf8.count <= Self.maximumTextBytes else {
      throw Rejection(message: "the text has \(text.utf8.count) bytes, more than \(Self.maximumTextBytes)")
    }
    func bounded(_ value: String?, _ limit: Int, _ name: String) -> String? {
      guard let value = value?.nonEmpty else { return nil }
      if value.utf8.count <= limit { return value }
      notes.append("the \(name) is omitted: it has \(value.utf8.count) bytes, more than \(limit)")
      return nil
    }
    let (guid, link) = (raw.guid?.trimmed.nonEmpty, raw.link.flatMap { SafeLink.web($0, base: raw.base) })
    let names = EntryNames(raw, link: link) { Digest.fallbackName(title: title, date: date.own, text: text) }
    let source = names.source
    let body = content ?? summary
    let attachments = Self.attachments(raw, body)
    notes += (raw.losses + (body?.losses ?? []) + attachments.losses).map(\.description)
    let authors = raw.authors.prefix(Self.maximumAuthors).map { Self.line(RawText($0, .unsure)) }
      .filter { !$0.isEmpty }
    return FeedEntry(
      id: raw.id ?? names.id, source: source, guid: names.name,
      digest: Digest.content(of: raw, date: date.own), date: date.value, title: title,
      summary: bounded(
        summary.map { $0.text.utf8.elementsEqual(text.utf8) } == true ? nil : summary?.text, Self.maximumSummaryBytes,
        "summary"), text: text,
      html: bounded(content?.html ?? (content == nil ? summary?.html : nil), Self.maximumHTMLBytes, "HTML"),
      categories: Self.categories(raw.categories), language: raw.language.flatMap(LanguageTag.normalised), url: link,
      author: bounded(authors.uniqued().joined(separator: ", "), Self.maximumAuthorBytes, "author"),
      breaking: raw.breaking, attachments: attachments.files,
      isDateFirstSeen: date.origin == .reading, origin: raw.id == nil ? guid.flatMap(Self.uuid(ofURN:)) : nil,
      linkID: raw.id == nil ? names.linkID : nil, earlierID: raw.id == nil ? names.earlierID : nil)
  }

  /// Reads a UUID as a URN; nil for another text, and for the nil UUID, which identifies nothing.
  private static func uuid(ofURN urn: String) -> UUID? {
    let prefix = "urn:uuid:"
    guard urn.utf8.count == prefix.utf8.count + 36, urn.prefix(prefix.count).lowercased() == prefix,
      let id = UUID(uuidString: String(urn.suffix(36))),
      id != UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    else { return nil }
    return id
  }

  private func date(of raw: RawEntry, notes: inout [String]) throws -> EntryDate {
    let own = raw.dates.compactMap { $0.trimmed.nonEmpty }
    let dates = own.isEmpty ? [raw.fallbackDate].compactMap { $0 } : own
    if let date = dates.lazy.compactMap(FeedDate.date(from:)).first {
      return EntryDate(value: RFC3339.truncated(date), origin: own.isEmpty ? .feed : .entry)
    }
    let problem = dates.first.map { written in
      "the date \"\(PlainText.line(String(written.prefix(64))))\" cannot be read"
    }
    guard case .firstSeen(let time) = missingDate else { throw Rejection(message: problem ?? "has no date") }
    if let problem { notes.append(problem + "; the time at which the entry was first seen is used") }
    return EntryDate(value: RFC3339.truncated(time).addingTimeInterval(-Double(undated) / 1000), origin: .reading)
  }

  static func line(_ raw: RawText?) -> String {
    guard let raw else { return "" }
    return PlainText.line(Rendering(raw, base: nil).text)
  }

  private static func categories(_ labels: [String]) -> [FeedCategory] {
    var slugs: Set<String> = []
    var categories: [FeedCategory] = []
    for label in labels.prefix(maximumLabels) {
      let label = line(RawText(label, .unsure))
      guard label.utf8.count <= maximumLabelBytes, let slug = Slug.make(label), slugs.insert(slug).inserted else {
        continue
      }
      categories.append(FeedCategory(slug: slug, label: label))
      if categories.count == maximumCategories { break }
    }
    return categories
  }

  private static func attachments(
    _ raw: RawEntry, _ body: Rendering?
  ) -> (files: [Attachment], losses: [SafeHTML.Loss]) {
    var urls: Set<String> = []
    var attachments: [Attachment] = []
    var losses: [SafeHTML.Loss] = []
    let recordings = body?.recordings.map(Self.attachment) ?? []
    let pictures = (body?.images ?? []).map {
      Attachment(url: $0.url, type: "", width: $0.width, height: $0.height, alt: $0.alt)
    }
    for var attachment in raw.attachments + recordings + pictures where attachments.count < maximumAttachments {
      guard let url = SafeLink.web(attachment.url, base: raw.base) else {
        if losses.isEmpty, !attachment.url.isEmpty { losses.append(SafeHTML.Loss(.attachment, at: attachment.url)) }
        continue
      }
      guard urls.insert(url).inserted else { continue }
      attachment.url = url
      attachment.type = MediaType.valid(attachment.type) ?? MediaType.guessed(from: url)
      attachment.alt = attachment.alt.map { PlainText.line($0) }?.nonEmpty.flatMap {
        $0.utf8.count <= maximumAltBytes ? $0 : nil
      }
      attachment.bytes = attachment.bytes.flatMap { Attachment.byteRange ~= $0 ? $0 : nil }
      attachment.width = attachment.width.flatMap { Attachment.pixelRange ~= $0 ? $0 : nil }
      attachment.height = attachment.height.flatMap { Attachment.pixelRange ~= $0 ? $0 : nil }
      attachment.sha256 = attachment.sha256.flatMap { Attachment.isDigest($0) ? $0 : nil }
      attachments.append(attachment)
    }
    return (attachments, losses)
  }

  /// A sound or film of the text. Its element says what it is, whatever its address and type say.
  private static func attachment(_ recording: SafeHTML.Recording) -> Attachment {
    let kind = recording.isVideo ? "video/" : "audio/"
    let types = [MediaType.valid(recording.type), MediaType.guessed(from: recording.url)].compactMap(\.self)
    let type = types.first { $0.utf8.starts(with: kind.utf8) } ?? (recording.isVideo ? "video/mp4" : "audio/mpeg")
    return Attachment(
      url: recording.url, type: type, width: recording.width, height: recording.height, alt: recording.title)
  }
}

/// A raw text in the form in which it is shown.
private struct Rendering {
  let text: String
  var html: String?
  var images: [SafeHTML.Image] = []
  var recordings: [SafeHTML.Recording] = []
  var losses: [SafeHTML.Loss] = []

  init(_ raw: RawText, base: String?, address: String? = nil) {
    let isMarkup = raw.kind == .html || raw.kind == .unsure && SafeHTML.looksLikeMarkup(raw.value)
    if isMarkup {
      let safe = SafeHTML(raw.value, base: base, address: address)
      text = safe.text
      html = safe.html.nonEmpty
      images = safe.images
      recordings = safe.recordings
      losses = safe.losses
    } else {
      text = raw.kind == .plain ? PlainText.cleaned(raw.value) : SafeHTML.decodingEntities(raw.value)
    }
  }
}
