import FaultServer
import Foundation
import News
import Testing

/// Well-formed refusals and redirects.
@Suite struct RefusalTests {
  let date = Date(timeIntervalSince1970: 784_111_777)

  @Test func `Retry-After has all its forms`() {
    #expect(RetryAfter.seconds(120).fieldValue == "120")
    // The examples of RFC 9110 section 5.6.7.
    #expect(RetryAfter.date(date).fieldValue == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(RetryAfter.rfc850Date(date).fieldValue == "Sunday, 06-Nov-94 08:49:37 GMT")
    #expect(RetryAfter.asctimeDate(date).fieldValue == "Sun Nov  6 08:49:37 1994")
    #expect(FaultResponse.busy(retryAfter: .text("soon"))["Retry-After"] == "soon")
    #expect(FaultResponse.busy(retryAfter: nil)["Retry-After"] == nil)
  }

  @Test func `redirects have their Location`() async throws {
    let request = FaultRequest(target: "/v1/items?limit=2", headers: [("Host", "a:1")])
    func location(_ redirect: FaultRedirect) -> String? {
      FaultResponse.redirect(redirect, from: request, status: 307)["Location"]
    }
    #expect(location(.sameOrigin("/b")) == "http://a:1/b")
    #expect(location(.relative("../b")) == "../b")
    #expect(location(.loop) == "/v1/items?limit=2")
    #expect(location(.chase) == "/hop/1")
    #expect(FaultResponse.redirect(.chase, from: FaultRequest(target: "/hop/1"))["Location"] == "/hop/2")
    #expect(location(.scheme("http")) == "http://a:1/v1/items?limit=2")
    #expect(location(.credentials("/b")) == "http://reader:secret@a:1/b")
    #expect(location(.missing) == nil)
    let other = try await FaultServer.start()
    #expect(location(.other(other, "/c")) == "http://127.0.0.1:\(other.port)/c")
    await other.stop()
  }

  @Test func `an expired token comes with a current one`() throws {
    let token = SyncToken(epoch: "abcdef", scope: .feed, version: 7)
    let response = FaultResponse.tokenExpired(reason: "epoch", token: token)
    let problem = try NewsJSON.decode(Problem.self, from: response.body)
    #expect(problem.type == "/problems/token-expired")
    #expect(problem.token == token)
    #expect(response.status == 410)
    #expect(response["Cache-Control"] == "max-age=0, s-maxage=1")
  }

  @Test func `a portal sends 200 with HTML, whatever type it declares`() {
    #expect(FaultResponse.captivePortal().status == 200)
    #expect(FaultResponse.captivePortal()["Content-Type"] == "text/html; charset=utf-8")
    let liar = FaultResponse.captivePortal(claiming: "application/json")
    #expect(liar["Content-Type"] == "application/json")
    #expect(liar.body.starts(with: Data("<!doctype html>".utf8)))
  }

  @Test func `the Date can be wrong`() {
    #expect(FaultResponse().dated(date)["Date"] == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(
      FaultResponse().dated(.init(timeIntervalSince1970: 4_294_967_296))["Date"] == "Sun, 07 Feb 2106 06:28:16 GMT")
  }
}
