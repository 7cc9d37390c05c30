public import BackgroundFetch
public import Foundation

/// The reason and the details with which a process of the store has launched the app. The counterpart of the
/// `launchOptions` of `UIApplicationDelegate`.
///
///     let options = LaunchOptions()
///     let application = ApplicationLifecycle(launchReason: options.reason)
///     if let session = options.session { print("the transfers of \(session) have ended") }
public struct LaunchOptions: Sendable, Hashable {
  /// The name of the variable with the reason.
  static let reasonVariable = "TIDINGS_LAUNCH_REASON"
  /// The name of the variable with the session.
  static let sessionVariable = "TIDINGS_LAUNCH_SESSION"
  /// The name of the variable with the folder of the store.
  static let storeVariable = "TIDINGS_STORE"

  /// The names of the variables with the tap on a notification.
  static let notificationVariable = "TIDINGS_LAUNCH_NOTIFICATION"
  static let actionVariable = "TIDINGS_LAUNCH_ACTION"
  static let tokenVariable = "XDG_ACTIVATION_TOKEN"

  /// The reason of the launch; `user` if no process of the store has launched the app.
  public var reason: LaunchReason
  /// The identifier of the session whose transfers have ended. The app opens it to receive their events.
  public var session: String?
  /// The tap on a notification that has launched the app.
  public var activation: NotificationActivation?
  /// The folder of the store that has launched the app.
  public var store: URL?

  /// Reads the options from the environment of the process. A variable that is empty is not set.
  public init(environment: [String: String] = ProcessInfo.processInfo.environment) {
    let environment = environment.filter { !$0.value.isEmpty }
    reason = environment[Self.reasonVariable].flatMap(LaunchReason.init(rawValue:)) ?? .user
    session = environment[Self.sessionVariable]
    activation = environment[Self.notificationVariable].map {
      NotificationActivation(
        identifier: $0, action: environment[Self.actionVariable] ?? NotificationActivation.defaultAction,
        token: environment[Self.tokenVariable])
    }
    store = environment[Self.storeVariable].map { URL(filePath: $0, directoryHint: .isDirectory) }
  }

  /// Creates options.
  init(reason: LaunchReason, session: String? = nil, store: URL) {
    (self.reason, self.session, self.store) = (reason, session, store)
  }

  /// Returns an environment with these options. Those of the launch of this process are left out.
  func environment(over inherited: [String: String]) -> [String: String] {
    var variables = inherited
    variables[Self.reasonVariable] = reason.rawValue
    variables[Self.sessionVariable] = session
    variables[Self.notificationVariable] = activation?.identifier
    variables[Self.actionVariable] = activation?.action
    variables[Self.tokenVariable] = activation?.token
    variables[Self.storeVariable] = store?.absoluteURL.path(percentEncoded: false)
    return variables
  }
}
