import Crypto
import Foundation

/// The stylesheets, scripts and pictures of pages. Each has an address with a hash of its content, so that browsers keep it.
public struct PageAssets: Sendable {
  /// A file.
  public struct Asset: Sendable {
    /// The name of the file with the hash, such as `reader-0123456789abcdef.css`.
    public let name: String
    /// The media type.
    public let contentType: String
    /// The content.
    public let text: String
    /// The parts of the name before and after the hash.
    fileprivate let stem: String
    fileprivate let suffix: String
  }

  /// All files.
  public let all: [Asset]

  /// - Parameter files: Names, such as `reader.css`, and contents. Files of unknown types are ignored.
  public init(_ files: [(name: String, text: String)]) {
    all = files.compactMap { file in
      guard let dot = file.name.lastIndex(of: ".") else { return nil }
      let (stem, suffix) = (String(file.name[..<dot]), String(file.name[dot...]))
      guard let type = Self.types[suffix] else { return nil }
      let text = suffix == ".js" ? Self.withoutComments(file.text) : file.text
      let hash = SHA256.hash(data: Data(text.utf8)).prefix(8).map { byte in
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
      return Asset(
        name: "\(stem)-\(hash.joined())\(suffix)", contentType: type, text: text, stem: stem, suffix: suffix)
    }
  }

  /// The files of the reader pages, without `worker`.
  public init() {
    self.init(embeddedAssets.filter { $0.name != Self.workerName })
  }

  /// The service worker of the reader pages, a script. Its address is the same for all versions, because browsers look
  /// there for a new one.
  public static var worker: String { embeddedAssets.first { $0.name == workerName }?.text ?? "" }

  /// The name of the service worker, which is also its path below that of the site.
  static let workerName = "worker.js"

  /// Returns the name, with its hash, of a file; the given name if there is no such file.
  public func name(of file: String) -> String {
    all.first { $0.stem + $0.suffix == file }?.name ?? file
  }

  /// Returns the file with a name.
  ///
  /// A page may come from a cache or from a server of another version, and then names another version of the file.
  ///
  /// - Returns: The file, and whether the name has the hash of its content; nil if there is no file of any version.
  public func asset(named name: String) -> (asset: Asset, isCurrent: Bool)? {
    if let asset = all.first(where: { $0.name == name }) { return (asset, true) }
    let other = all.first { asset in
      let hash = name.utf8.dropFirst(asset.stem.utf8.count + 1).dropLast(asset.suffix.utf8.count)
      return name.utf8.count == asset.name.utf8.count && name.hasPrefix(asset.stem + "-")
        && name.hasSuffix(asset.suffix)
        && hash.allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }
    }
    return other.map { ($0, false) }
  }

  /// Returns a script without the lines that are comments, which a reader need not load.
  private static func withoutComments(_ script: String) -> String {
    script.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
      let text = line.drop { $0 == " " }
      return !text.hasPrefix("//") && !(text.hasPrefix("/**") && text.hasSuffix("*/"))
    }.joined(separator: "\n")
  }

  private static let types = [
    ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".js": "text/javascript; charset=utf-8",
  ]
}
