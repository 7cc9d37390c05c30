import Foundation
import HTTPConditions
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import NewsStore
import Synchronization

/// Answers again, without the router, what has been answered from memory before.
final class HotAnswers: Sendable {
  /// What an answer depends on: fields of the request, and whether its target says to wait.
  struct Conditions: Hashable, Sendable {
    var ifNoneMatch: String?
    var ifModifiedSince: String?
    var acceptEncoding: String?
    var isLongPoll = false

    /// Whether a client may have written them to fill memory.
    fileprivate var isLong: Bool {
      [ifNoneMatch, ifModifiedSince, acceptEncoding].reduce(0) { $0 + ($1?.utf8.count ?? 0) } > 256
    }
  }

  private let views: Views
  private let caching: CachePolicy
  /// Of what clients follow.
  private let polled: CachePolicy
  /// Of what somebody has waited for.
  private let longPoll: CachePolicy
  private let metrics: APIMetrics
  private let date = Mutex(HTTPDateLine(second: .min, line: ByteBuffer()))

  init(views: Views, caching: CachePolicy, polled: CachePolicy, longPoll: CachePolicy, metrics: APIMetrics) {
    self.views = views
    self.caching = caching
    self.polled = polled
    self.longPoll = longPoll
    self.metrics = metrics
  }

  /// What the router would answer, if that is in memory.
  func answer(to head: HTTPRequestHead) -> HotAnswer? {
    guard head.method == .GET, head.version == .http1_1, var conditions = Conditions(head),
      let state = views.store.remembered, let known = views.targets.meaning(of: head.uri, epoch: state.moment.epoch),
      let representation = views.kept(known.key, in: state)
    else { return nil }
    conditions.isLongPoll = known.isLongPoll
    let answer = representation.hotAnswer(to: conditions, target: head.uri, caching(for: known))
    if let answer { count(answer, known.key) }
    return answer
  }

  private func caching(for target: KnownTargets.Target) -> CachePolicy {
    if target.isLongPoll { return longPoll }
    return target.key.isFollowed ? polled : caching
  }

  private func count(_ answer: HotAnswer, _ key: ViewKey) {
    metrics.countHot()
    metrics.count(route: key.route, method: .get, status: answer.status, bytes: answer.bytes, duration: .zero)
    if answer.saved.byNotModified > 0 { metrics.countNotModified(sparing: answer.saved.byNotModified) }
    if answer.saved.byCompression > 0 { metrics.countCompression(sparing: answer.saved.byCompression) }
  }

  /// The date of the present second.
  func dateLine() -> HTTPDateLine {
    let now = Date()
    let second = Int(now.timeIntervalSince1970)
    return date.withLock { date in
      if date.second != second {
        date = HTTPDateLine(second: second, line: ByteBuffer(string: "Date: \(HTTPDate.format(now))\r\n\r\n"))
      }
      return date
    }
  }
}

extension HotAnswers.Conditions {
  /// nil for a request that is not as plain as most are: it is for the router to judge.
  fileprivate init?(_ head: HTTPRequestHead) {
    var host: String?
    var size = head.uri.utf8.count
    for (name, value) in head.headers {
      size += name.utf8.count + value.utf8.count + 4
      switch name.utf8.count {
      case 4 where name.isField("host"):
        guard host == nil else { return nil }
        host = value
      case 13 where name.isField("if-none-match"):
        guard ifNoneMatch == nil else { return nil }
        ifNoneMatch = value
      case 15 where name.isField("accept-encoding"):
        guard acceptEncoding == nil else { return nil }
        acceptEncoding = value
      case 17 where name.isField("if-modified-since"):
        guard ifModifiedSince == nil else { return nil }
        ifModifiedSince = value
      case 10 where name.isField("connection"):
        guard value.isField("keep-alive") else { return nil }
      case 6 where name.isField("expect"), 7 where name.isField("upgrade"), 8 where name.isField("if-match"),
        14 where name.isField("content-length"), 17 where name.isField("transfer-encoding"),
        19 where name.isField("if-unmodified-since"):
        return nil
      default: break
      }
    }
    guard size <= HeaderLimit.bytes, let host, HTTPRequestHead.isAuthority(host) else { return nil }
  }
}

extension String {
  /// Whether it is the name, which is in lower case, in any case.
  fileprivate func isField(_ name: StaticString) -> Bool {
    guard utf8.count == name.utf8CodeUnitCount else { return false }
    var place = name.utf8Start
    for byte in utf8 {
      guard byte | (65...90 ~= byte ? 0x20 : 0) == place.pointee else { return false }
      place += 1
    }
    return true
  }
}

extension Representation {
  /// The answer to a GET with these fields and no other that matters; nil where it is not 200 or 304.
  fileprivate func hotAnswer(
    to conditions: HotAnswers.Conditions, target: String, _ caching: CachePolicy
  ) -> HotAnswer? {
    let isDated = lastModified?.value() != nil
    let pollInterval = caching.pollInterval()
    return hotAnswers.withLock { answers in
      if let known = answers[conditions], known.isDated == isDated, known.pollInterval == pollInterval {
        return known.answer
      }
      var fields = HTTPFields()
      fields[.ifNoneMatch] = conditions.ifNoneMatch
      fields[.ifModifiedSince] = conditions.ifModifiedSince
      fields[.acceptEncoding] = conditions.acceptEncoding
      let head = HTTPRequest(method: .get, scheme: "http", authority: nil, path: target, headerFields: fields)
      guard var found = try? self.answer(to: head, caching) else { return nil }
      CrossOrigin.add(to: &found.response.headers)
      let plain = body.readableBytes
      let answer = HotAnswer(
        found.response, body: found.body,
        saved: found.body.map { (byNotModified: 0, byCompression: plain - $0.readableBytes) } ?? (plain, 0))
      // Those that clients make up are not worth keeping.
      if !conditions.isLong, answers.count < Self.mostHotAnswers || answers[conditions] != nil {
        answers[conditions] = (isDated, pollInterval, answer)
      }
      return answer
    }
  }

  private static let mostHotAnswers = 16
}
