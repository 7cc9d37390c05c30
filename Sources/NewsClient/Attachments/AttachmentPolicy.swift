package import Foundation
import HTTPTransfer
package import News

/// The selection of attachments that are downloaded with their items.
///
///     var policy = AttachmentPolicy(.thumbnails, maximumItemBytes: 2 << 20, maximumTotalBytes: 50 << 20)
///     policy.allowsOtherServers = true
///     print(policy.selection)
public struct AttachmentPolicy: Sendable, Hashable {
  /// The wanted attachments of an item.
  ///
  ///     let names = AttachmentPolicy.Selection.allCases.map(\.rawValue)
  ///     print("choose one of \(names.joined(separator: ", "))")
  public enum Selection: String, Sendable, Hashable, CaseIterable {
    /// No attachment.
    case none
    /// The first picture.
    case thumbnails
    /// All attachments.
    case all
  }

  /// The wanted attachments of an item.
  public var selection: Selection
  /// The maximum number of bytes per item. Files of unknown length share what those of known length leave.
  public var maximumItemBytes: Int
  /// The maximum number of bytes of all items together. The oldest files are evicted for new ones.
  public var maximumTotalBytes: Int
  /// The maximum number of files of all items together. The oldest files are evicted for new ones.
  public var maximumFiles: Int
  /// Whether files may come from other servers if the feed uses https. Another server learns which items a user reads.
  public var allowsOtherServers = false

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - selection: The wanted attachments of an item.
  ///   - maximumItemBytes: The maximum number of bytes per item.
  ///   - maximumTotalBytes: The maximum number of bytes of all items together.
  ///   - maximumFiles: The maximum number of files of all items together.
  public init(
    _ selection: Selection, maximumItemBytes: Int = 10 << 20, maximumTotalBytes: Int = 200 << 20,
    maximumFiles: Int = 1000
  ) {
    self.selection = selection
    self.maximumItemBytes = maximumItemBytes
    self.maximumTotalBytes = maximumTotalBytes
    self.maximumFiles = maximumFiles
  }

  /// Returns the URL from which a file is downloaded.
  ///
  /// - Returns: nil for a URL that cannot be requested or has a user name, and for a less trusted channel than that of the
  ///   feed.
  package func location(of attachment: Attachment, server: URL) -> URL? {
    guard let url = URL(string: attachment.url, relativeTo: server)?.absoluteURL, url.user() == nil,
      url.requestObstacle == nil
    else { return nil }
    guard server.scheme?.lowercased() == "https" else { return url }
    let isOwn = url.host()?.lowercased() == server.host()?.lowercased() && url.port ?? 443 == server.port ?? 443
    return url.scheme?.lowercased() == "https" && (isOwn || allowsOtherServers) ? url : nil
  }

  /// A file to download.
  struct WantedFile {
    var attachment: Attachment
    var maximumBytes: Int
    /// The description for the list of transfers.
    var description: String
    /// The budget that the file shares with the others of unknown length; nil if its length is known.
    var budget: TransferBudget?
  }

  /// Returns the wanted files of an item. Those of known length have precedence.
  func wanted(of item: NewsItem) -> [WantedFile] {
    let candidates =
      switch selection {
      case .none: [Attachment]()
      case .thumbnails: Array(item.attachments.filter { $0.type.hasPrefix("image/") }.prefix(1))
      case .all: item.attachments
      }
    var left = maximumItemBytes
    // nil for an unknown length, 0 for a file that is too large.
    let lengths = candidates.map { attachment in
      attachment.bytes.map { bytes in
        guard bytes > 0, bytes <= left else { return 0 }
        left -= bytes
        return bytes
      }
    }
    let budget = TransferBudget(name: "\(item.id) \(item.version)", maximumBytes: Int64(left))
    let description = item.headline
    return zip(candidates, lengths).compactMap { attachment, length in
      guard length ?? left > 0 else { return nil }
      return WantedFile(
        attachment: attachment, maximumBytes: length ?? left, description: description,
        budget: length == nil ? budget : nil)
    }
  }
}

extension NewsItem {
  /// The maximum length of a headline in the list of transfers, in characters.
  private static let maximumHeadlineLength = 60

  /// The beginning of the title, or else of the text.
  fileprivate var headline: String {
    let line = (title ?? text).prefix(4 * Self.maximumHeadlineLength).split(whereSeparator: \.isWhitespace).joined(
      separator: " ")
    return line.count > Self.maximumHeadlineLength ? line.prefix(Self.maximumHeadlineLength) + "…" : line
  }
}
