internal import Foundation
internal import News
internal import SafeHTML

/// The names of an entry, and the ids that are made from them.
struct EntryNames {
  let source: String
  /// The name within the feed.
  let name: String
  let id: UUID
  /// The id if the name is not the entry's own; nil if nothing else identifies it.
  let linkID: UUID?
  /// The id by the names that earlier versions knew; nil if it is `id`.
  let earlierID: UUID?

  /// - Parameters:
  ///   - link: The absolute link of the entry.
  ///   - text: The plain text of the entry.
  ///   - fallback: Returns the name of an entry without any.
  init(_ raw: RawEntry, link: String?, text: String, fallback: () -> String) {
    // The address of the feed's page does not identify an entry.
    func identifying(_ name: String?) -> String? {
      name?.trimmed.nonEmpty.flatMap { $0.utf8.elementsEqual((raw.home ?? "").utf8) ? nil : $0 }
    }
    let hasLink = link != nil
    let (guid, identifier, link) = (identifying(raw.guid), identifying(raw.identifier), identifying(link))
    source = raw.source.withoutNUL
    name = (guid ?? identifier ?? link ?? fallback()).withoutNUL
    id = Digest.identifier(source: source, guid: name)
    // An entry that is named by its link may still have a file of its own.
    let file = raw.attachments.first.flatMap { SafeLink.web($0.url, base: raw.base) }
    // Nothing but the text distinguishes short messages of one day without a title.
    let own = guid ?? identifier
    let mark = (own == nil ? nil : link) ?? file ?? (own == nil && !hasLink ? text : nil)
    linkID = mark.map { [name, source] in Digest.identifier(source: source, guid: "\(name)\n\($0)") }
    let earlier = guid ?? link ?? fallback()
    earlierID =
      earlier.utf8.elementsEqual(name.utf8) ? nil : Digest.identifier(source: source, guid: earlier.withoutNUL)
  }
}
