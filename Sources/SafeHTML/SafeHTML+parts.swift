extension SafeHTML {
  /// A picture of the source that is in the fragment.
  public struct Image: Sendable, Hashable {
    /// An absolute http or https URL.
    public var url: String
    /// Alternative text that describes the picture; nil if there is none.
    public var alt: String?
    /// The width in CSS pixels, 1...99999.
    public var width: Int?
    /// The height in CSS pixels, 1...99999.
    public var height: Int?
  }

  /// A sound or film that the source plays. The fragment has a link to it.
  public struct Recording: Sendable, Hashable {
    /// An absolute http or https URL.
    public var url: String
    /// The media type as written by the source; empty if there is none.
    public var type: String
    /// Whether it is a film.
    public var isVideo: Bool
    /// The title; nil if there is none.
    public var title: String?
    /// The width in CSS pixels, 1...99999.
    public var width: Int?
    /// The height in CSS pixels, 1...99999.
    public var height: Int?
  }

  /// Parts of the source that the fragment does not have, although a reader would miss them.
  public struct Loss: Sendable, Hashable, CustomStringConvertible {
    /// The kind of a lost part.
    public enum Part: String, Sendable {
      case picture, link, embed, attachment, text
    }

    /// The reason of a loss.
    public enum Reason: Sendable, Hashable {
      /// The data is in the source itself (RFC 2397), not at an address.
      case inline
      /// The address has this number of bytes, more than ``SafeLink/maximumBytes``.
      case tooLong(bytes: Int)
      /// The address is not one of the web.
      case notOnTheWeb
      /// The address is relative, and that of the source is unknown.
      case relative
      /// The markup is nested too deeply. The text from there on is kept.
      case tooDeep

      /// The reason why an address cannot be used.
      init(_ reference: String) {
        if reference.utf8.prefix(64).drop(while: { $0 <= 0x20 }).starts(with: "data:".utf8) {
          self = .inline
        } else if reference.utf8.count > SafeLink.maximumBytes {
          self = .tooLong(bytes: reference.utf8.count)
        } else {
          self = .notOnTheWeb
        }
      }
    }

    /// The kind of the lost parts.
    public var part: Part
    /// The reason. Of several addresses that are too long, the length of the first.
    public var reason: Reason
    /// The number of parts that are lost for this reason.
    public var count: Int

    /// The loss of a part whose address cannot be used.
    package init(_ part: Part, at reference: String) {
      self.init(part: part, reason: Reason(reference), count: 1)
    }

    init(part: Part, reason: Reason, count: Int) {
      (self.part, self.reason, self.count) = (part, reason, count)
    }

    /// One sentence without full stop, such as `2 pictures are omitted: they are inside the text (data:)`.
    public var description: String {
      let isOne = count == 1
      let article = part == .embed || part == .attachment ? "an" : "a"
      let what = isOne ? "\(article) \(part) is omitted" : "\(count) \(part)s are omitted"
      return switch reason {
      case .inline: "\(what): \(isOne ? "it is" : "they are") inside the text (data:)"
      case .tooLong(let bytes): "\(what): the address has \(bytes) bytes, more than \(SafeLink.maximumBytes)"
      case .notOnTheWeb: "\(what): the address is not one of the web"
      case .relative: "\(what): the address is relative, and that of the page is unknown"
      case .tooDeep: "elements that are nested too deeply are omitted, not their text"
      }
    }
  }
}
