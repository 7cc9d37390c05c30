import News

/// A picture that a page shows.
struct PagePicture {
  /// The address that the page uses.
  let source: String
  let alt: String?
  let width: Int?
  let height: Int?
  let caption: String?
  let credit: String?
  /// The path on this server; nil for a picture elsewhere.
  private let ownPath: String?

  /// - Returns: nil for an attachment that is no picture, or one that the page's policy would block: only this server
  ///   and https are allowed.
  init?(_ attachment: Attachment, on site: PageSite) {
    guard attachment.type.utf8.starts(with: "image/".utf8), let source = attachment.source(on: site) else { return nil }
    self.source = source
    alt = attachment.alt
    // Both or neither: one alone would not reserve the space.
    let size = attachment.width.flatMap { width in attachment.height.map { (width, $0) } }
    width = size?.0
    height = size?.1
    caption = attachment.caption
    credit = attachment.credit
    ownPath = site.ownPath(attachment.url)
  }

  /// The absolute address; nil for a picture of this server without a public URL.
  func absolute(on site: PageSite) -> String? { ownPath.map { site.absolute($0) } ?? source }

  func values(isLazy: Bool, _ texts: TextCatalogue) -> PageValues {
    var values = PageValues()
    values.set("source", source)
    values.set("alt", alt)
    values.set("width", width)
    values.set("height", height)
    values.set("isLazy", isLazy)
    values.set("caption", caption)
    values.set("credit", credit)
    values.set("hasCaption", caption?.isEmpty == false || credit?.isEmpty == false)
    return values
  }
}

extension Attachment {
  /// The address with which a page loads the file; nil if the page's policy would block it.
  func source(on site: PageSite) -> String? {
    if let path = site.ownPath(url) { return site.link(path) }
    return WebLink.normalised(url).flatMap { $0.utf8.starts(with: "https:".utf8) ? $0 : nil }
  }

  /// The address of a link to the file; nil for an address that is no web link.
  func link(on site: PageSite) -> String? { source(on: site) ?? WebLink.normalised(url) }
}
