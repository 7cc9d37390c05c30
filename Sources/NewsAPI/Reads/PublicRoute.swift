import Foundation
import Hummingbird
import News

/// A route of public reads, for the router and for requests that are answered before it.
struct PublicRoute: Sendable {
  /// Makes a read from the parameter of a path, if there is one, and the text after the question mark of the target. Each
  /// throws a `ProblemError` that names the parameters and rules.
  enum Reader: Sendable {
    case plain(@Sendable (String?) throws -> PublicRead)
    /// The path has the id of an item.
    case item(@Sendable (UUID, String?) throws -> PublicRead)
    /// The path has the slug of a topic.
    case topic(@Sendable (String, String?) throws -> PublicRead)
  }

  /// The path as the router matches it.
  let path: String
  private let reader: Reader

  init(_ path: String, _ reader: Reader) {
    self.path = path
    self.reader = reader
  }

  /// Reads a request that the router has matched.
  ///
  /// - Throws: `ProblemError`.
  func read(_ request: Request, _ context: APIContext) throws -> PublicRead {
    switch reader {
    case .plain(let read): try read(request.uri.query)
    case .item(let read): try read(try context.itemID(), request.uri.query)
    case .topic(let read): try read(try context.topicSlug(), request.uri.query)
    }
  }

  /// Reads a target.
  ///
  /// - Returns: nil for the path of another route, and for an invalid target, which the router refuses.
  fileprivate func read(path: Substring, _ query: String?) -> PublicRead? {
    switch reader {
    case .plain(let read): return path.utf8.elementsEqual(self.path.utf8) ? try? read(query) : nil
    case .item(let read):
      return path.parameter(of: self.path).flatMap { UUID(uuidString: String($0)) }.flatMap { try? read($0, query) }
    case .topic(let read):
      guard let slug = path.parameter(of: self.path), TopicSlug.isValid(slug) else { return nil }
      return try? read(String(slug), query)
    }
  }
}

extension [PublicRoute] {
  /// Reads a target in origin form.
  ///
  /// - Returns: nil for a target of no route, and for an invalid one, which the router refuses.
  func read(_ target: String) -> PublicRead? {
    let parts = target.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    let (path, query) = (Substring(parts[0]), parts.count > 1 ? String(parts[1]) : nil)
    for route in self {
      if let read = route.read(path: path, query) { return read }
    }
    return nil
  }
}

extension Substring {
  /// The parameter of a path that has the pattern `PREFIX{name}SUFFIX`; nil for another path.
  func parameter(of pattern: String) -> Substring? {
    let prefix = pattern.prefix { $0 != "{" }
    let suffix = pattern.utf8.drop { $0 != UInt8(ascii: "}") }.dropFirst()
    guard utf8.starts(with: prefix.utf8) else { return nil }
    let rest = utf8.dropFirst(prefix.utf8.count)
    guard rest.suffix(suffix.count).elementsEqual(suffix) else { return nil }
    return Substring(rest.dropLast(suffix.count))
  }
}
