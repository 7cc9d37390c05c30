import Foundation
import News
import NewsDelivery
import NewsStore
import PushMocks
import TestKit
import Testing

/// Requests to mocks of FCM and of Google's token service over HTTP/2, which check them as the documentation states it.
@Suite struct FCMMockTests {
  private static func target(_ number: Int = 0) -> PushTarget { .fcm(token: "device:\(number)") }

  private static func with(
    timeout: Duration = PushMocks.longTimeout, clock: @escaping @Sendable () -> Date = { Date() },
    _ body: (MockedSender) async throws -> Void
  ) async throws {
    try await MockedSender.with({ $0.clock = clock }) {
      try $0.fcmSender(timeout: timeout, clock: clock)
    } _: {
      try await body($0)
    }
  }

  @Test("Silent messages and alerts pass all checks of FCM with one access token, over HTTP/2")
  func accepted() async throws {
    try await Self.with { service in
      let answers = await service.send(to: (0..<200).map { Self.target($0) })
      #expect(answers.allSatisfy { $0.answer.result == .sent })
      let alert = PushAlert(title: longText(500), body: "Body", url: "https://news.example/a", breaking: true)
      #expect(await service.send(to: Self.target(200), alert: alert).result == .sent)

      let record = service.mocks.fcm.record
      #expect(record.refusals == [:] && record.histogram == [1: 201] && service.mocks.fcm.issuedTokens == 1)
      #expect(record.totals.http2Connections == record.totals.connections)
      let messages = record.messages
      #expect(messages.first?.options["priority"] == "NORMAL" && messages.first?.isVisible == false)
      #expect(messages.last?.options["priority"] == "HIGH" && messages.last?.isVisible == true)
      #expect(messages.last?.field("breaking") == "1")
    }
  }

  @Test(
    "Each documented error has its meaning",
    arguments: [
      (FCMError.unregistered, "gone"), (.invalidToken, "gone"), (.badRequest("message.data"), "invalid"),
      (.senderIDMismatch, "tokenError"), (.thirdPartyAuthFailure, "invalid"), (.unspecified, "invalid"),
      (.unavailable, "failure"), (.internalFailure, "failure"), (.quotaExceeded, "failure"),
      (.permissionDenied, "pause"), (.notFound, "pause"), (.unauthenticated, "pause"),
    ])
  func errors(_ error: FCMError, _ expected: String) async throws {
    try await Self.with { service in
      service.mocks.fcm.faults.always(.answer(error.response))
      let answer = await service.send(to: Self.target())
      switch expected {
      case "pause": #expect(answer.pause?.reason.contains("TIDINGS_FCM_CREDENTIALS") == true)
      case "failure": #expect(answer.isFailure && answer.result.wait ?? 0 > 0 && answer.pause == nil)
      default: #expect(answer.result.name == expected && answer.pause == nil)
      }
      #expect(service.mocks.fcm.record.totals.accepted == 0)
    }
  }

  @Test("Retry-After is obeyed, and without it too many messages mean a minute")
  func quota() async throws {
    try await Self.with { service in
      service.mocks.fcm.faults.next(
        .answer(FCMError.quotaExceeded.response.retry(after: 300)), .answer(FCMError.quotaExceeded.response),
        .answer(FCMError.unavailable.response.retry(after: 120)))
      #expect(300...400 ~= (await service.send(to: Self.target()).result.wait ?? 0))
      #expect(60...80 ~= (await service.send(to: Self.target()).result.wait ?? 0))
      #expect(120...160 ~= (await service.send(to: Self.target()).result.wait ?? 0))
      #expect(await service.send(to: Self.target()).result == .sent)
    }
  }

  @Test("The access token is renewed before it expires, and at once if it was revoked")
  func renewal() async throws {
    let time = TestTime()
    try await Self.with(clock: { time.now }) { service in
      for _ in 0..<13 {
        #expect(await service.send(to: Self.target()).result == .sent)
        time.advance(minutes: 10)
      }
      let fcm = service.mocks.fcm
      #expect(fcm.record.refusals == [:] && fcm.issuedTokens == 3)
      fcm.revokeTokens()
      let answers = await service.send(to: (0..<20).map { Self.target($0) })
      #expect(answers.allSatisfy { $0.answer.result == .sent })
      #expect(fcm.record.refusals.keys.sorted() == ["the access token is not valid"])
      #expect(4...5 ~= fcm.issuedTokens)
    }
  }

  @Test("Failures of the token service are retried, and a refusal of the account pauses FCM")
  func tokenService() async throws {
    try await Self.with { service in
      service.mocks.fcm.tokenFaults.next(.answer(MockResponse(status: 503).retry(after: 90)))
      let answer = await service.send(to: Self.target())
      #expect(answer.isFailure && 90...120 ~= (answer.result.wait ?? 0) && answer.pause == nil)
    }
    try await Self.with { service in
      let body = #"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#
      service.mocks.fcm.tokenFaults.next(.answer(MockResponse(status: 400, body: body)))
      #expect(await service.send(to: Self.target()).pause?.reason.contains("TIDINGS_FCM_CREDENTIALS") == true)
    }
    try await Self.with { service in
      service.mocks.fcm.tokenFaults.next(.resetStream)
      #expect(await service.send(to: Self.target()).result == .sent)
      #expect(service.mocks.fcm.record.totals.accepted == 1)
    }
  }

  @Test("GOAWAY and resets lose no message")
  func connections() async throws {
    try await Self.with { service in
      service.mocks.fcm.faults.streamsPerConnection = 40
      #expect(await service.sendAll(to: (0..<300).map { Self.target($0) }, width: 10))
      let record = service.mocks.fcm.record
      #expect(record.histogram == [1: 300] && record.refusals == [:])
      service.mocks.fcm.faults.clear()
      record.takeMessages()
      service.mocks.fcm.faults.share(0.05, .resetConnection)
      #expect(await service.sendAll(to: (0..<200).map { Self.target($0) }))
      #expect(record.addresses == 200)
    }
  }

  @Test("A service that offers only HTTP/1.1 gets all messages too, over a few connections")
  func http1() async throws {
    try await MockedSender.with({ $0.offersHTTP2 = false }) {
      try $0.fcmSender()
    } _: { service in
      #expect(await service.sendAll(to: (0..<200).map { Self.target($0) }, width: 50))
      service.mocks.fcm.faults.share(0.1, .goAway)
      #expect(await service.sendAll(to: (200..<300).map { Self.target($0) }))
      let record = service.mocks.fcm.record
      #expect(record.histogram == [1: 300] && record.refusals == [:] && record.totals.http2Connections == 0)
      #expect(record.totals.maximumOpen <= 9)
    }
  }
}
