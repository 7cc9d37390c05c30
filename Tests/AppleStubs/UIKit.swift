// The part of UIKit that the examples of docs/apps.md use, with the same signatures. It is only compiled to check them.

package enum UIBackgroundFetchResult: UInt, Sendable {
  case newData, noData, failed
}

@MainActor package final class UIApplication {
  package struct LaunchOptionsKey: Hashable, Sendable {}

  package func registerForRemoteNotifications() { fatalError() }
}

@MainActor package protocol UIApplicationDelegate: NSObjectProtocol {
  init()

  func application(
    _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool

  func application(
    _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data)

  func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
  ) async -> UIBackgroundFetchResult

  func application(
    _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
    completionHandler: @escaping () -> Void)
}

extension UIApplicationDelegate {
  package static func main() { fatalError() }
}
