public import Foundation
public import News

/// The user's choices about notifications. They are stored with the other settings of a folder, so that each process
/// that fetches follows them.
///
///     var options = NotificationOptions()
///     options.showsNews = true
///     options.quietHours = QuietHours(from: .seconds(22 * 3600), to: .seconds(7 * 3600))
///     try news.notifications.setOptions(options)
public struct NotificationOptions: Sendable, Equatable {
  /// Whether new items raise notifications; off by default.
  public var showsNews = false
  /// The program to run once for each fetch with new items; nil for none.
  ///
  /// It is run without a shell and without arguments, on Linux only. Its standard input is `{"items":[...]}` with the
  /// items as the server has sent them, newest first. `TIDINGS_NEW` and `TIDINGS_BREAKING` are the numbers of items and
  /// of breaking items, `TIDINGS_STORE` is the folder of the store. After 10 seconds it is ended with its process group.
  public var program: URL?
  /// The hours in which only breaking items raise notifications and run the program, in the time zone of the client; nil
  /// for none. The other items follow when the hours end.
  public var quietHours: QuietHours?

  /// Creates the default: no notifications.
  public init() {}
}

extension QuietHours {
  /// Creates hours from times since midnight. Seconds are ignored.
  ///
  ///     let night = QuietHours(from: .seconds(22 * 3600), to: .seconds(7 * 3600))
  ///     print(night.from / 60, night.to / 60)  // 22 7
  public init(from: Duration, to: Duration) {
    self.init(from: Int(from.components.seconds / 60), to: Int(to.components.seconds / 60))
  }

  /// Returns the end of the quiet hours that contain a date; nil if none do.
  ///
  /// On a day on which the clock skips the end, they end at the next existing minute.
  func end(containing date: Date, in timeZone: TimeZone) -> Date? {
    guard isValid else { return nil }
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = timeZone
    let time = calendar.dateComponents([.hour, .minute], from: date)
    let minute = (time.hour ?? 0) * 60 + (time.minute ?? 0)
    let isQuiet = from < to ? from..<to ~= minute : minute >= from || minute < to
    guard isQuiet else { return nil }
    return calendar.nextDate(
      after: date, matching: DateComponents(hour: to / 60, minute: to % 60), matchingPolicy: .nextTime)
  }
}
