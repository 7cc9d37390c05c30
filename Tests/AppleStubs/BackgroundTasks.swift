// The part of BackgroundTasks that the examples of docs/apps.md use, with the same signatures. It is only compiled to check
// them.
import Foundation

package class BGTask {
  package var expirationHandler: (() -> Void)?

  package func setTaskCompleted(success: Bool) { fatalError() }
}

package final class BGAppRefreshTask: BGTask {}

package class BGTaskRequest {
  package var earliestBeginDate: Date?
}

package final class BGAppRefreshTaskRequest: BGTaskRequest {
  package init(identifier: String) { fatalError() }
}

package final class BGTaskScheduler: @unchecked Sendable {
  package static let shared = BGTaskScheduler()

  @discardableResult
  package func register(
    forTaskWithIdentifier identifier: String, using queue: DispatchQueue?, launchHandler: @escaping (BGTask) -> Void
  ) -> Bool {
    fatalError()
  }

  package func submit(_ taskRequest: BGTaskRequest) throws { fatalError() }
}
