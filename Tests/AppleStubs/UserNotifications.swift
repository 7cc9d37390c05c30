// The part of UserNotifications that the examples of docs/apps.md use, with the same signatures. It is only compiled to
// check them.
import Foundation

package struct UNAuthorizationOptions: OptionSet, Sendable {
  package let rawValue: UInt

  package static let badge = UNAuthorizationOptions(rawValue: 1)
  package static let sound = UNAuthorizationOptions(rawValue: 2)
  package static let alert = UNAuthorizationOptions(rawValue: 4)

  package init(rawValue: UInt) { self.rawValue = rawValue }
}

package class UNNotificationContent {
  package var userInfo: [AnyHashable: Any] { fatalError() }
}

package final class UNMutableNotificationContent: UNNotificationContent {
  package var title = ""
  package var body = ""

  override package var userInfo: [AnyHashable: Any] {
    get { fatalError() }
    set { fatalError() }
  }

  override package init() {}
}

package class UNNotificationTrigger {}

package final class UNNotificationRequest {
  package var content: UNNotificationContent { fatalError() }

  package init(identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?) { fatalError() }
}

package final class UNNotification {
  package var request: UNNotificationRequest { fatalError() }
}

package final class UNNotificationResponse {
  package var notification: UNNotification { fatalError() }
}

package protocol UNUserNotificationCenterDelegate: NSObjectProtocol {
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
  ) async
}

package final class UNUserNotificationCenter: @unchecked Sendable {
  package weak var delegate: (any UNUserNotificationCenterDelegate)?

  package static func current() -> UNUserNotificationCenter { fatalError() }

  package func requestAuthorization(options: UNAuthorizationOptions) async throws -> Bool { fatalError() }

  package func add(_ request: UNNotificationRequest, withCompletionHandler: (@Sendable ((any Error)?) -> Void)?) {
    fatalError()
  }
}
