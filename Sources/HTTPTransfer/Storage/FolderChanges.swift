package import Foundation
import Synchronization

/// The changes of files in a folder by any process.
///
/// On Linux inotify(7) signals them. Elsewhere, and if the kernel has no watches left, a wait ends after a second.
package final class FolderChanges: Sendable {
  private struct State {
    var isPending = false
    var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var last: UInt64 = 0
  }

  /// The maximum wait without signals, in seconds.
  static let pollInterval = 1.0

  private let state = Mutex(State())
  private let watch = Mutex<Watch?>(nil)

  /// Watches a folder, which must exist.
  ///
  /// - Parameter isRelevant: Returns whether a change of the file with a name counts.
  package init(folder: URL, isRelevant: @escaping @Sendable (_ name: String) -> Bool) {
    #if os(Linux)
      let watch = Watch(folder, isRelevant) { [weak self] in self?.signal() }
      self.watch.withLock { $0 = watch }
    #endif
  }

  /// Ends the present wait, or the next one.
  package func signal() {
    let waiters = state.withLock { state in
      defer { state.waiters = [:] }
      state.isPending = state.waiters.isEmpty
      return state.waiters.values
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Waits for a change since the last wait, until the time is over or the task is cancelled.
  ///
  /// - Parameters:
  ///   - seconds: The maximum wait.
  ///   - clock: The clock that measures it.
  package func wait(upTo seconds: Double, clock: any FetchClock) async {
    let isSignalled = watch.withLock { $0 != nil }
    let limit = isSignalled ? seconds : min(seconds, Self.pollInterval)
    await withTaskGroup { group in
      group.addTask { await self.wait() }
      group.addTask { try? await clock.sleep(for: .seconds(max(limit, 0))) }
      await group.next()
      group.cancelAll()
    }
  }

  private func wait() async {
    let number = state.withLock { state in
      state.last += 1
      return state.last
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.isPending {
            state.isPending = false
            return true
          }
          state.waiters[number] = continuation
          return false
        }
        if isOver { continuation.resume() }
        // The cancellation handler may have run before the waiter was added.
        if Task.isCancelled { leave(number) }
      }
    } onCancel: {
      leave(number)
    }
  }

  private func leave(_ number: UInt64) {
    state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
  }
}

#if os(Linux)
  /// A watch of inotify(7), which ends with this object.
  ///
  /// `Sendable` is correct, because the only property is a source that any thread may cancel
  /// (dispatch_source_cancel(3)).
  private final class Watch: @unchecked Sendable {
    private let source: any DispatchSourceRead

    /// Watches a folder; nil if the kernel has no watch left.
    init?(
      _ folder: URL, _ isRelevant: @escaping @Sendable (String) -> Bool, _ changed: @escaping @Sendable () -> Void
    ) {
      let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
      guard descriptor >= 0 else { return nil }
      // The attributes of a database change after each commit; see SharedDatabase.write.
      let mask = UInt32(IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_TO)
      guard inotify_add_watch(descriptor, folder.path(percentEncoded: false), mask) >= 0 else {
        close(descriptor)
        return nil
      }
      source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global())
      source.setEventHandler { if Self.readsChange(descriptor, isRelevant) { changed() } }
      source.setCancelHandler { close(descriptor) }
      source.resume()
    }

    deinit { source.cancel() }

    /// Reads all pending events.
    ///
    /// - Returns: Whether one of them is relevant.
    private static func readsChange(_ descriptor: Int32, _ isRelevant: (String) -> Bool) -> Bool {
      var isChange = false
      let size = 4096
      withUnsafeTemporaryAllocation(byteCount: size, alignment: MemoryLayout<inotify_event>.alignment) { buffer in
        while true {
          let count = read(descriptor, buffer.baseAddress, size)
          guard count > 0 else { return }
          var offset = 0
          while offset < count {
            let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
            let start = offset + MemoryLayout<inotify_event>.size
            let name = buffer[start..<start + Int(event.len)].prefix { $0 != 0 }
            let isOverflow = event.mask & UInt32(IN_Q_OVERFLOW) != 0
            if isOverflow || isRelevant(String(decoding: name, as: UTF8.self)) { isChange = true }
            offset = start + Int(event.len)
          }
        }
      }
      return isChange
    }
  }
#else
  /// A placeholder for systems without inotify(7).
  private final class Watch: Sendable {}
#endif
