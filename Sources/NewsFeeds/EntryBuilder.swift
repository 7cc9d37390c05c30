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
  static let maximumAuthors = 64
  static let maximumLabels = 256
  static let maximumCategories = 16
  static let maximumLabelBytes = 256
  static let maximumAltBytes = 1024
  static let maximumCaptionBytes = 2048
  static let maximumCreditBytes = 256
  static let maximumAttachments = 32

  struct Rejection: Error {
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
    /// The reason why the written date is not used.
    var problem: String?
    /// Whether the entry's own date has no time.
    var isDay = false

    /// The date if it is the entry's own.
    var own: Date? { origin == .entry ? value : nil }
  }

  private let missingDate: MissingDate
  /// The orders of day and month that the dates of the document prove so far.
  private(set) var orders: Set<FeedDate.Order> = []
  /// The number of entries that have the time of this reading.
  private var undated = 0
  /// The languages that were reported as invalid, each once.
  private var reportedLanguages: Set<String> = []

  init(missingDate: MissingDate) {
    self.missingDate = missingDate
  }

  /// - Parameter dates: The dates of the entry.
  /// - Returns: One `entry` after any number of `reduced`, or one `skipped`.
  mutating func events(for raw: RawEntry, _ dates: [WrittenDate]) -> [FeedEvent] {
    if let exclusion = raw.exclusion {
      let problem = FeedProblem(position: raw.position, message: exclusion.message, notPublic: exclusion.kind)
      return [.skipped(problem)]
    }
    do {
      var notes = raw.losses
      let entry = try entry(from: raw, dates, notes: &notes)
      if entry.isDateFirstSeen { undated += 1 }
      return notes.map { .reduced(FeedProblem(position: raw.position, message: $0)) } + [.entry(entry)]
    } catch let rejection as Rejection {
      // A part that cannot be read may be the reason.
      let message = ([rejection.message] + raw.losses).joined(separator: "; ")
      return [.skipped(FeedProblem(position: raw.position, message: message))]
    } catch {
      return [.skipped(FeedProblem(position: raw.position, message: "cannot be read"))]
    }
  }

  private mutating func entry(
    from raw: RawEntry, _ dates: [WrittenDate], notes: inout [String]
  ) throws -> FeedEntry {
    let date = try date(of: raw, dates, notes: &notes)
    let title = Self.bounded(raw.title.map(Self.line), Self.maximumTitleBytes, "title", &notes)
    let content = raw.content.map { Rendering($0, base: raw.base, address: raw.link) }
    let summary = raw.summary.map { Rendering($0, base: raw.base, address: raw.link) }
    let body = content ?? summary
    let (guid, link) = (raw.guid?.trimmed.nonEmpty, Self.link(of: raw, &notes))
    let attachments = Self.attachments(raw, body, &notes)
    // Tickers and link feeds consist of titles, photo blogs of pictures, which lead to their page.
    let named = Self.page(at: link, &notes)
    let page = raw.page.flatMap { WebLink.normalised($0) == nil ? nil : $0 } ?? named
    let file = attachments.first.map { $0.alt ?? named ?? $0.url }
    let candidates = [raw.text.map(PlainText.cleaned), content?.text, summary?.text, title, file]
    guard let whole = candidates.lazy.compactMap({ $0?.nonEmpty }).first else {
      throw Rejection(message: "has neither text nor title")
    }
    let text = Self.bounded(whole, Self.maximumTextBytes, "text", &notes) ?? whole
    let names = EntryNames(raw, link: link, text: whole, isTitled: title != nil && date.own != nil) {
      Digest.fallbackName(title: title, date: date.own, text: whole)
    }
    // Without a title, the name is that of the day.
    let isNamedByDay = title == nil && date.isDay && names.isUnnamed
    notes += (body?.losses ?? []).map(\.description)
    let html = content?.html ?? (content == nil ? summary?.html : nil)
    let isRepeated = summary.map { $0.text.utf8.elementsEqual(whole.utf8) } == true
    return FeedEntry(
      id: raw.id ?? names.id, source: names.source, guid: names.name,
      digest: Digest.content(of: raw, date: date.own), date: date.value, title: title,
      summary: Self.bounded(isRepeated ? nil : summary?.text, Self.maximumSummaryBytes, "summary", &notes), text: text,
      html: Self.boundedHTML(html, &notes), categories: Self.categories(raw.categories, &notes),
      language: language(of: raw, &notes), url: page, author: Self.author(of: raw, &notes), breaking: raw.breaking,
      attachments: attachments, isDateFirstSeen: date.origin == .reading,
      dateProblem: date.problem, origin: raw.id == nil ? guid.flatMap(Self.uuid(ofURN:)) : nil,
      linkID: raw.id == nil ? names.linkID : nil, isNamedByLink: names.isNamedByLink,
      earlierID: raw.id == nil ? names.earlierID : nil, sharesName: raw.id == nil && isNamedByDay,
      hasWeakMark: names.hasWeakMark)
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

  // MARK: Dates

  /// Notes the order of day and month that dates of the document prove.
  mutating func learn(from dates: [WrittenDate]) {
    for case .certain(_, let order?) in dates.map(\.reading) { orders.insert(order) }
  }

  /// Whether the date of an entry needs the evidence of later ones.
  func isUndecided(_ dates: [WrittenDate]) -> Bool {
    guard orders.isEmpty, case .ambiguous = dates.lazy.compactMap(\.reading).first else { return false }
    return true
  }

  private func date(of raw: RawEntry, _ own: [WrittenDate], notes: inout [String]) throws -> EntryDate {
    let language = raw.languageTag
    let dates = own.isEmpty ? [raw.fallbackDate].compactMap { $0.map { WrittenDate($0, language: language) } } : own
    var isAmbiguous = false
    for written in dates {
      guard let reading = written.reading else { continue }
      if let date = FeedDate.date(of: reading, in: written.text, evidence: orders, language: language) {
        let isDay = !own.isEmpty && FeedDate.isDay(date, written: written.text)
        return EntryDate(value: RFC3339.truncated(date), origin: own.isEmpty ? .feed : .entry, isDay: isDay)
      }
      isAmbiguous = true
    }
    let problem = dates.first.map { written in
      "the date \"\(PlainText.shortened(PlainText.line(written.text), to: 64))\" "
        + (isAmbiguous ? "may begin with the day or with the month" : "cannot be read")
    }
    guard case .firstSeen(let time) = missingDate else { throw Rejection(message: problem ?? "has no date") }
    if let problem { notes.append(problem + "; the time at which the entry was first seen is used") }
    let value = RFC3339.truncated(time).addingTimeInterval(-Double(undated) / 1000)
    return EntryDate(value: value, origin: .reading, problem: problem)
  }

  // MARK: Texts

  static func line(_ raw: RawText?) -> String {
    guard let raw else { return "" }
    return PlainText.line(Rendering(raw, base: nil, isLine: true).text)
  }

  private mutating func language(of raw: RawEntry, _ notes: inout [String]) -> String? {
    guard let written = raw.language?.trimmed.nonEmpty else { return nil }
    if let language = LanguageTag.normalised(written) { return language }
    let name = PlainText.shortened(written, to: 32)
    if reportedLanguages.count < 16, reportedLanguages.insert(name).inserted {
      notes.append("the language \"\(PlainText.line(name))\" is omitted: it is not a language tag")
    }
    return nil
  }
}

/// A raw text in the form in which it is shown.
struct Rendering {
  let text: String
  var html: String?
  var images: [SafeHTML.Image] = []
  var recordings: [SafeHTML.Recording] = []
  var losses: [SafeHTML.Loss] = []

  /// - Parameters:
  ///   - address: The address of the entry's page.
  ///   - isLine: Whether the text is a title or a name.
  init(_ raw: RawText, base: String?, address: String? = nil, isLine: Bool = false) {
    // In a text that is declared as HTML, even a lone `<br>` acts. Titles are declared so without being it.
    let isHTML = raw.kind == .html && !isLine
    let tags = TagReading(raw.kind == .plain || isHTML ? "" : raw.value, isLine: isLine)
    if raw.kind == .html || tags.isMarkup {
      let safe = SafeHTML(isHTML ? raw.value : tags.source, base: base, address: address)
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
