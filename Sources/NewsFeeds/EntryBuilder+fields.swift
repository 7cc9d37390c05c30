internal import News
internal import SafeHTML

/// The limits of fields. What exceeds one is shortened or omitted, and noted.
extension EntryBuilder {
  /// Returns a text within its limit; nil if it is empty.
  static func bounded(_ value: String?, _ limit: Int, _ name: String, _ notes: inout [String]) -> String? {
    guard let value = value?.nonEmpty else { return nil }
    if value.utf8.count <= limit { return value }
    notes.append("the \(name) is shortened: it has \(value.utf8.count) bytes, more than \(limit)")
    return PlainText.shortened(value, to: limit)
  }

  /// Returns HTML within its limit. The rest of a shortened fragment is sanitised again, which closes its elements.
  static func boundedHTML(_ html: String?, _ notes: inout [String]) -> String? {
    guard let html, html.utf8.count > maximumHTMLBytes else { return html }
    notes.append("the HTML is shortened: it has \(html.utf8.count) bytes, more than \(maximumHTMLBytes)")
    let bytes = Array(html.utf8.prefix(maximumHTMLBytes - maximumHTMLBytes / 16))
    let safe = SafeHTML(String(decoding: wholeParts(of: bytes), as: UTF8.self), base: nil).html
    return safe.utf8.count <= maximumHTMLBytes ? safe.nonEmpty : nil
  }

  /// Returns the start of a fragment without the tag, reference or word that is cut off at its end.
  private static func wholeParts(of bytes: [UInt8]) -> [UInt8] {
    let text = bytes.lastIndex(of: UInt8(ascii: ">")).map { $0 + 1 } ?? 0
    if let tag = bytes[text...].firstIndex(of: UInt8(ascii: "<")) { return Array(bytes[..<tag]) }
    let start = max(text, bytes.count - 128)
    let isBoundary = { (byte: UInt8) in byte <= 0x20 || byte == UInt8(ascii: "&") || byte >= 0xC0 }
    let blank = bytes[start...].lastIndex { $0 <= 0x20 }
    let end = blank ?? bytes[start...].lastIndex(where: isBoundary) ?? bytes.count
    return bytes[..<end] + Array("\u{2026}".utf8)
  }

  static func author(of raw: RawEntry, _ notes: inout [String]) -> String? {
    let all = raw.lateAuthors + raw.authors
    if all.count > maximumAuthors {
      notes.append("\(all.count - maximumAuthors) of \(all.count) authors are omitted")
    }
    let authors = all.prefix(maximumAuthors).map { line(RawText($0, .unsure)) }.filter { !$0.isEmpty }
    return bounded(authors.uniqued().joined(separator: ", "), maximumAuthorBytes, "author", &notes)
  }

  /// Returns the address of an entry's page.
  static func link(of raw: RawEntry, _ notes: inout [String]) -> String? {
    guard let written = raw.link?.trimmed.nonEmpty else { return nil }
    if let link = SafeLink.web(written, base: raw.base) { return link }
    notes.append("the link is omitted: " + unusable(written))
    return nil
  }

  /// Returns the address of an entry's page if clients can open it. The names of entries do not depend on that.
  static func page(at link: String?, _ notes: inout [String]) -> String? {
    guard let link, WebLink.normalised(link) == nil else { return link }
    notes.append("the link is omitted: \"\(PlainText.shortened(link, to: 64))\" has no valid host or port")
    return nil
  }

  /// Returns the reason why an address cannot be used.
  static func unusable(_ address: String) -> String {
    let count = address.utf8.count
    return count > maximumAddressBytes
      ? "it has \(count) bytes, more than \(maximumAddressBytes)"
      : "\"\(PlainText.shortened(PlainText.line(address), to: 64))\" is no http or https address"
  }

  /// The maximum number of bytes of an address that ``SafeLink`` accepts.
  static let maximumAddressBytes = 2048

  static func categories(_ labels: [String], _ notes: inout [String]) -> [FeedCategory] {
    // Names are compared as bytes, because hashing characters takes time quadratic in their combining marks.
    var names: Set<[UInt8]> = []
    var categories: [FeedCategory] = []
    for label in labels.prefix(maximumLabels) {
      guard let written = line(RawText(label, .unsure)).nonEmpty else { continue }
      let label = bounded(written, maximumLabelBytes, "category", &notes) ?? written
      guard let slug = Slug.make(label) else {
        notes.append("the category \"\(PlainText.shortened(label, to: 32))\" is omitted: it has no letter or digit")
        continue
      }
      guard names.insert(Array(Slug.name(label).utf8)).inserted else { continue }
      categories.append(FeedCategory(slug: slug, label: label))
    }
    let lost = max(0, categories.count - maximumCategories) + max(0, labels.count - maximumLabels)
    if lost > 0 { notes.append("\(lost) categories are omitted: an item has at most \(maximumCategories)") }
    return Array(categories.prefix(maximumCategories))
  }

  static func attachments(
    _ raw: RawEntry, _ body: Rendering?, _ notes: inout [String]
  ) -> [Attachment] {
    var urls: Set<String> = []
    var attachments: [Attachment] = []
    var lost = 0
    let recordings = (body?.recordings ?? []).map(attachment)
    let pictures = (body?.images ?? []).map {
      Attachment(url: $0.url, type: "", width: $0.width, height: $0.height, alt: $0.alt)
    }
    for written in raw.attachments + recordings + raw.lateFiles + pictures where !written.url.isEmpty {
      guard let url = SafeLink.web(written.url, base: raw.base) else {
        notes.append("an attachment is omitted: " + unusable(written.url))
        continue
      }
      guard WebLink.normalised(url) != nil else {
        notes.append("an attachment is omitted: \"\(PlainText.shortened(url, to: 64))\" has no valid host or port")
        continue
      }
      guard urls.insert(url).inserted else { continue }
      if attachments.count == maximumAttachments {
        lost += 1
      } else {
        attachments.append(attachment(captioned(written, by: raw), url: url, &notes))
      }
    }
    if lost > 0 { notes.append("\(lost) attachments are omitted: an item has at most \(maximumAttachments)") }
    return attachments
  }

  /// Adds the texts that are beside a file in its entry.
  private static func captioned(_ written: Attachment, by raw: RawEntry) -> Attachment {
    guard !raw.captions.isEmpty, let caption = raw.captions[Array(written.url.utf8)] else { return written }
    var attachment = written
    attachment.alt = attachment.alt ?? line(RawText(caption.alt, .unsure)).nonEmpty
    attachment.credit = attachment.credit ?? line(RawText(caption.credit, .unsure)).nonEmpty
    return attachment
  }

  private static func attachment(_ written: Attachment, url: String, _ notes: inout [String]) -> Attachment {
    var attachment = written
    attachment.url = url
    attachment.type = MediaType.valid(attachment.type) ?? MediaType.guessed(from: url)
    let (alt, caption, credit) = (attachment.alt, attachment.caption, attachment.credit)
    attachment.alt = bounded(alt.map(PlainText.line), maximumAltBytes, "description of an attachment", &notes)
    attachment.caption = bounded(caption.map(PlainText.line), maximumCaptionBytes, "caption of an attachment", &notes)
    attachment.credit = bounded(credit.map(PlainText.line), maximumCreditBytes, "credit of an attachment", &notes)
    attachment.bytes = attachment.bytes.flatMap { Attachment.byteRange ~= $0 ? $0 : nil }
    attachment.width = attachment.width.flatMap { Attachment.pixelRange ~= $0 ? $0 : nil }
    attachment.height = attachment.height.flatMap { Attachment.pixelRange ~= $0 ? $0 : nil }
    attachment.sha256 = attachment.sha256.flatMap { Attachment.isDigest($0) ? $0 : nil }
    return attachment
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
