import NewsDelivery
import Testing

/// The origins that messages of Web Push are sent to.
@Suite struct WebPushOriginsTests {
  @Test(
    "The push services of browsers are allowed",
    arguments: [
      "https://updates.push.services.mozilla.com/wpush/v2/gAAAA", "https://fcm.googleapis.com/fcm/send/abc:def",
      "https://web.push.apple.com/QGv", "https://api.web.push.apple.com/QGv",
      "https://wns2-par02p.notify.windows.com/w/?token=BQYA", "HTTPS://FCM.GOOGLEAPIS.COM:443/fcm/send/a",
    ])
  func known(_ endpoint: String) throws {
    #expect(try WebPushOrigins().allows(endpoint))
  }

  @Test(
    "Other origins are not allowed",
    arguments: [
      "http://fcm.googleapis.com/fcm/send/a", "https://fcm.googleapis.com:8443/a",
      "https://fcm.googleapis.com.evil.net/a",
      "https://evilfcm.googleapis.com/a", "https://storage.googleapis.com/a", "https://notify.windows.com/a",
      "https://evilnotify.windows.com/a", "https://push.apple.com.evil.net/", "https://user@fcm.googleapis.com/a",
      "https://evil.net/https://fcm.googleapis.com/", "https://evil.net\\@fcm.googleapis.com/", "https://127.0.0.1/a",
      "fcm.googleapis.com", "", "https://", "javascript:alert(1)",
    ])
  func others(_ endpoint: String) throws {
    #expect(try !WebPushOrigins().allows(endpoint))
  }

  @Test("An operator adds origins with a scheme, a port and a wildcard")
  func additional() throws {
    let origins = try WebPushOrigins([
      "https://ntfy.example.org", "https://*.push.example.net:8443", "http://127.0.0.1:4400", "https://[::1]:4401",
    ])
    for endpoint in [
      "https://ntfy.example.org/up4f1a?up=1", "https://a.push.example.net:8443/x", "https://a.b.push.example.net:8443/",
      "http://127.0.0.1:4400/x", "https://[::1]:4401/", "https://fcm.googleapis.com/a",
    ] {
      #expect(origins.allows(endpoint), "\(endpoint)")
    }
    for endpoint in [
      "http://ntfy.example.org/x", "https://a.ntfy.example.org/", "https://push.example.net:8443/x",
      "https://a.push.example.net/x", "https://127.0.0.1:4400/x",
    ] {
      #expect(!origins.allows(endpoint), "\(endpoint)")
    }
  }

  @Test(
    "A malformed origin is refused with its rule",
    arguments: [
      "ntfy.example.org", "ftp://ntfy.example.org", "https://ntfy.example.org/path",
      "https://ntfy.example.org?x=1", "https://ntfy.example.org#x", "https://*.org", "https://*.*.example.org",
      "https://*.10.0.0.1", "https://*", "https://user:pass@ntfy.example.org", "",
    ])
  func malformed(_ origin: String) {
    let error = #expect(throws: WebPushOrigins.InvalidOrigin.self) { try WebPushOrigins([origin]) }
    #expect(error?.rule.isEmpty == false)
  }
}
