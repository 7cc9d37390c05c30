internal import Foundation

/// The reason why a record is not public news.
///
/// Exports of publishing systems contain drafts, private and protected posts, pages, files and settings beside the public
/// posts, in the formats of feeds. In a document that states what its records are, only a post that is stated to be
/// public is imported.
struct Exclusion: Equatable {
  private static let maximumLength = 32

  /// The kind of the record, such as `draft` or `attachment`.
  let kind: String

  init(_ kind: some StringProtocol) {
    self.kind = PlainText.shortened(PlainText.line(String(kind)), to: Self.maximumLength)
  }

  var message: String { "is not a public post (\(kind))" }
}

// MARK: - XML

extension Exclusion {
  private static let kindScheme = "http://schemas.google.com/g/2005#kind"

  /// Reads the state of an entry of RSS or Atom.
  init?(_ entry: FeedElement) {
    let found =
      Self.wordpress(entry) ?? Self.atom(entry) ?? Self.blogger(entry)
      ?? entry.children.lazy.compactMap(Self.stated).first
    guard let found else { return nil }
    self = found
  }

  /// Whether a category of Atom states the kind of its entry (Google Data Protocol) instead of a topic.
  static func isKind(_ category: FeedElement) -> Bool {
    category["scheme"]?.utf8.elementsEqual(kindScheme.utf8) == true
  }

  /// Reads a record of an export of WordPress (WXR). Every record has a type and a status.
  private static func wordpress(_ entry: FeedElement) -> Exclusion? {
    func value(_ name: String) -> String? { entry.value(.wordpress, name).map(word) }
    let isRecord = ["status", "post_type", "post_id", "post_password"].contains { entry.first(.wordpress, $0) != nil }
    guard isRecord else { return nil }
    let type = value("post_type") ?? "post"
    if type != "post" { return Exclusion(type) }
    let status = value("status") ?? "no status"
    if status != "publish" { return Exclusion(status) }
    let passwords = entry.all(.wordpress, "post_password")
    let isProtected = passwords.contains { $0.hasCDATA ? !$0.text.isEmpty : !$0.text.trimmed.isEmpty }
    return isProtected ? Exclusion("password") : nil
  }

  /// Reads `app:draft` (RFC 5023 section 13.1.1).
  private static func atom(_ entry: FeedElement) -> Exclusion? {
    let controls = entry.all(.publishing, "control") + entry.all(.atom, "control")
    let drafts = ([entry] + controls).flatMap { $0.all(.publishing, "draft") + $0.all(.atom, "draft") }
    return drafts.contains { word($0.text) != "no" } ? Exclusion("draft") : nil
  }

  /// Reads an entry of an export of Blogger: its kind as a category, or its type and status.
  private static func blogger(_ entry: FeedElement) -> Exclusion? {
    for category in entry.all(.atom, "category") where isKind(category) {
      let term = category["term"] ?? ""
      let kind = term.split(separator: "#").last.map { String($0) } ?? ""
      // Other services have kinds of their own, such as videos.
      let isBlogger = term.utf8.starts(with: "http://schemas.google.com/blogger/".utf8)
      if isBlogger ? kind != "post" : type(kind) != nil { return Exclusion(kind) }
    }
    if let type = entry.value(.blogger, "type").map(word), type != "post" { return Exclusion(type) }
    if entry.value(.blogger, "trashed") != nil { return Exclusion("trash") }
    return entry.value(.blogger, "status").map(word).flatMap { $0 == "live" ? nil : Exclusion($0) }
  }

  /// Reads an element without a vocabulary of states by the words that records in JSON have.
  private static func stated(_ element: FeedElement) -> Exclusion? {
    guard [FeedNamespace.none, .atom].contains(element.name.space),
      element.name.local.utf8.count <= RecordState.maximumNameBytes,
      !element.hasElements
    else { return nil }
    return RecordState.exclusion(by: plain(element.name.local), text: element.text.trimmed)
  }

  /// Returns a text as a word in lower case.
  ///
  /// It is cut after bytes: a character can have any number of marks, and comparing them takes quadratic time.
  private static func word(_ text: String) -> String {
    String(decoding: text.trimmed.utf8.prefix(64), as: UTF8.self).lowercased()
  }
}

// MARK: - Words

extension Exclusion {
  /// The values with which systems mark what is not public.
  private static let privateStates: Set<String> = [
    "archived", "autodraft", "canceled", "cancelled", "deleted", "disabled", "draft", "embargoed", "expired", "future",
    "hidden", "inactive", "inherit", "inreview", "internal", "members", "membersonly", "paid", "password", "pending",
    "private", "protected", "rejected", "retracted", "review", "scheduled", "sent", "softtrashed", "spam",
    "subscribers", "tiers", "trash", "trashed", "unlisted", "unpublished", "withheld",
  ]
  /// The records of publishing systems that are not posts.
  private static let otherTypes: Set<String> = [
    "attachment", "comment", "menu", "navmenuitem", "page", "revision", "settings", "template",
  ]

  /// Returns the exclusion by a state; nil if the state is public or unknown.
  static func state(_ text: String) -> Exclusion? {
    privateStates.contains(plain(text)) ? Exclusion(word(text)) : nil
  }

  /// Returns the exclusion by the type of a record; nil if the record may be a post.
  static func type(_ text: String) -> Exclusion? {
    otherTypes.contains(plain(text)) ? Exclusion(word(text)) : nil
  }

  /// Returns a name in lower case without hyphens, underscores and spaces.
  static func plain(_ name: String) -> String {
    word(name).filter { $0 != "_" && $0 != "-" && $0 != " " }
  }
}

/// The state of a record in JSON or XML, by the fields that publishing systems use.
struct RecordState: Decodable {
  /// The fields for states and for readers, without underscores and in lower case.
  private static let stateFields: Set<String> = [
    "status", "state", "poststatus", "pubstatus", "visibility", "access",
  ]
  private static let typeFields: Set<String> = ["type", "posttype", "kind"]
  /// The fields that mark a record as not public if they are true.
  private static let privateFlags = [
    "draft": "draft", "isdraft": "draft", "private": "private", "isprivate": "private", "hidden": "hidden",
    "ishidden": "hidden", "deleted": "deleted", "isdeleted": "deleted", "trashed": "trash", "istrashed": "trash",
    "emailonly": "email only", "unlisted": "unlisted", "isprotected": "password",
  ]
  /// The fields that mark a record as not public if they are false.
  private static let publicFlags: Set<String> = ["published", "ispublished", "public", "ispublic"]
  private static let passwordFields: Set<String> = ["password", "postpassword"]
  /// The maximum number of bytes of the name of a field.
  static let maximumNameBytes = 32

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// The reason why the record is not public; nil if no field says so.
  let exclusion: Exclusion?

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Key.self)
    let keys = fields.allKeys.filter { $0.stringValue.utf8.count <= Self.maximumNameBytes }
    let sorted = keys.sorted { $0.stringValue < $1.stringValue }
    exclusion = sorted.lazy.compactMap { Self.exclusion(by: $0, in: fields) }.first
  }

  private static func exclusion(by key: Key, in fields: KeyedDecodingContainer<Key>) -> Exclusion? {
    let name = Exclusion.plain(key.stringValue)
    let text = try? fields.decode(String.self, forKey: key)
    if let text { return exclusion(by: name, text: text) }
    return (try? fields.decode(JSONFlag.self, forKey: key).value).flatMap { exclusion(by: name, flag: $0) }
  }

  /// Returns the exclusion by the text of a field; nil for other fields and for public records.
  ///
  /// - Parameter name: The name as `Exclusion.plain` has it.
  static func exclusion(by name: String, text: String) -> Exclusion? {
    if passwordFields.contains(name) { return text.isEmpty ? nil : Exclusion("password") }
    if stateFields.contains(name) { return Exclusion.state(text) }
    if typeFields.contains(name) { return Exclusion.type(text) }
    return JSONFlag.value(of: text).flatMap { exclusion(by: name, flag: $0) }
  }

  private static func exclusion(by name: String, flag: Bool) -> Exclusion? {
    if flag { return privateFlags[name].map { Exclusion($0) } }
    return publicFlags.contains(name) ? Exclusion("unpublished") : nil
  }
}
