public import HTTPTypes
public import Hummingbird
public import News

/// A part of the server whose routes are inside the middleware of the API: requests are counted and logged, and thrown
/// errors become responses.
///
///     let console = NewsConsole(api: api, settings: .init())
///     let router = api.router(with: [console])
public protocol RouteModule: Sendable {
  /// The first segment of all paths of the module, such as `/console`.
  var root: String { get }

  /// Registers the routes of the module.
  func addRoutes(to router: Router<APIContext>)

  /// Returns the header fields and the text of the response to a request below `root` that was refused before the router,
  /// that failed before a handler of the module, or whose handler threw.
  ///
  /// - Parameters:
  ///   - problem: The error, with the status of the response.
  ///   - headers: The header fields that belong to the error, such as `Allow` and `Retry-After`.
  func errorPage(of problem: Problem, headers: HTTPFields) -> (fields: HTTPFields, text: String)

  /// Returns the name of the editor whose request has a secret of the module that was found lately; nil for any other request.
  func editor(of request: HTTPRequest) -> String?
}

extension RouteModule {
  /// Returns nil, for a module without secrets.
  public func editor(of request: HTTPRequest) -> String? { nil }

  /// Whether a path belongs to the module.
  func owns(_ path: String) -> Bool {
    guard path.utf8.starts(with: root.utf8) else { return false }
    let rest = path.utf8.dropFirst(root.utf8.count).first
    return rest == nil || rest == UInt8(ascii: "/")
  }
}
