import HTTPTypes
import Hummingbird
import Synchronization

/// The methods and paths of all routes. They distinguish an unknown path (404) from an unknown method (405), which the
/// router does not do.
final class RouteTable: Sendable {
  private let routes = Mutex<[(pattern: [Substring], method: HTTPRequest.Method)]>([])

  /// Stores the routes of a router, after all of them have been added.
  func add(_ router: Router<APIContext>) {
    routes.withLock { routes in
      routes = router.routes.map { (Self.split($0.path.description), $0.method) }
    }
  }

  /// Returns the methods of a path, sorted; none for an unknown path.
  func methods(of path: String) -> [HTTPRequest.Method] {
    let parts = Self.split(path)
    return routes.withLock { routes in
      routes.filter { Self.matches($0.pattern, parts) }.map(\.method).sorted { $0.rawValue < $1.rawValue }
    }
  }

  private static func split(_ path: String) -> [Substring] { path.split(separator: "/") }

  private static func matches(_ pattern: [Substring], _ parts: [Substring]) -> Bool {
    pattern.count == parts.count && zip(pattern, parts).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
  }
}
