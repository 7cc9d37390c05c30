import Crypto
import CryptoExtras
import FaultServer
import Foundation
import NIOCore
import NetworkAddresses
import News
import NewsDelivery
import NewsStore
import OutgoingHTTP
import TestKit
import TestSupport
import Testing

/// Messages and tokens as they are read by libraries of Python that nobody here wrote.
@Suite struct SenderVerifierTests {
  /// Runs a program of Python.
  private static func run(_ program: String, _ arguments: String...) async throws -> ChildProcess.Result {
    try await ChildProcess(
      ["python3", "-c", program] + arguments, executable: "/usr/bin/env",
      environment: ProcessInfo.processInfo.environment
    ).result()
  }

  private static func hasModule(_ names: String) async -> Bool {
    (try? await run("import \(names)"))?.status == 0
  }

  /// Runs the body with the only request that a sender makes.
  private static func request(
    _ send: (FaultServer) async throws -> PushAnswer
  ) async throws -> FaultRequest {
    try await FaultServer.with({ request in
      request.path == "/token" ? .json(#"{"access_token":"a","expires_in":3599}"#) : FaultResponse(status: 200)
    }) { server in
      #expect(try await send(server).result == .sent)
      return try #require(server.requests.first)
    }
  }

  @Test(
    "http_ece decrypts a message of Web Push, and py_vapid accepts its token",
    .enabled("Python packages are missing: pip install http_ece py-vapid") {
      await hasModule("http_ece, py_vapid")
    })
  func webPush() async throws {
    let receiver = WebPushReceiver()
    let key = P256.Signing.PrivateKey()
    let request = try await Self.request { server in
      var policy = AddressPolicy()
      policy.allowedNetworks = [try #require(IPNetwork("127.0.0.1"))]
      let sender = WebPushSender(
        try VAPIDCredentials(pem: key.pemRepresentation, subject: "mailto:news@example.org"),
        origins: try WebPushOrigins([server.url]), resolver: CheckedResolver(policy: policy), trustRoots: [])
      let target = PushTarget.webPush(
        endpoint: "\(server.url)/up/1", p256dh: receiver.publicKey, auth: receiver.secret)
      return try await withResource(sender, release: { await $0.shutdown() }) { sender in
        await sender.send(.sample(to: target, alert: PushAlert(title: "Title", body: "B\u{F6}dy")))
      }
    }
    let result = try await Self.run(
      """
      import base64, sys
      import http_ece, py_vapid
      from cryptography.hazmat.primitives.serialization import load_pem_private_key
      pem, secret, body, authorization = sys.argv[1:]
      key = load_pem_private_key(pem.encode(), None)
      text = http_ece.decrypt(base64.b64decode(body), private_key=key, auth_secret=base64.b64decode(secret))
      # The library does not know the space after the comma.
      assert py_vapid.Vapid02.verify(authorization.replace(', ', ','))
      sys.stdout.write(text.decode())
      """,
      receiver.key.pemRepresentation, Data(receiver.secret).base64EncodedString(),
      request.body.base64EncodedString(), request["Authorization"] ?? "")
    #expect(result.status == 0, "\(result.errors)")
    #expect(
      result.output == #"{"body":"B\#u{F6}dy","content-id":"01234567-0000-7000-8000-000000000003","#
        + #""push":"00000000-0000-4000-8000-000000000001","title":"Title","token":"1k3x9qam9pkx.10"}"#)
  }

  private static let decode = """
    import json, sys
    import jwt
    token, key, algorithm, audience = sys.argv[1:]
    claims = jwt.decode(token, key, algorithms=[algorithm], audience=audience or None)
    print(json.dumps([jwt.get_unverified_header(token), sorted(claims)]))
    """

  @Test(
    "PyJWT verifies the provider token of APNs, and the request for an access token of FCM",
    .enabled("Python packages are missing: pip install pyjwt cryptography") {
      await hasModule("jwt, cryptography")
    })
  func tokens() async throws {
    let key = P256.Signing.PrivateKey()
    let apns = try await Self.request { server in
      let credentials = try APNsCredentials(
        pem: key.pemRepresentation, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
      return try await withResource(
        APNsSender(credentials, url: server.url, trustRoots: []), release: { await $0.shutdown() }
      ) { sender in
        await sender.send(.sample(to: .apns(token: "0f0f", topic: "example.news", environment: .production)))
      }
    }
    let provider = try await Self.run(
      Self.decode, String(apns["Authorization"]?.dropFirst(7) ?? ""), key.publicKey.pemRepresentation, "ES256", "")
    #expect(provider.status == 0, "\(provider.errors)")
    #expect(provider.output.contains(#""kid": "ABC123DEFG""#) && provider.output.contains(#"["iat", "iss"]"#))

    let account = try _RSA.Signing.PrivateKey(keySize: .bits2048)
    let fcm = try await Self.request { server in
      let json = try JSONEncoder().encode([
        "type": "service_account", "project_id": "example-news", "private_key_id": "k1",
        "private_key": account.pemRepresentation, "client_email": "push@example.org",
        "token_uri": "\(server.url)/token",
      ])
      return try await withResource(
        FCMSender(try FCMCredentials(json: json), url: server.url, trustRoots: []), release: { await $0.shutdown() }
      ) { sender in
        await sender.send(.sample(to: .fcm(token: "t")))
      }
    }
    let form = FaultRequest(target: "/?" + String(decoding: fcm.body, as: UTF8.self)).query
    let assertion = try await Self.run(
      Self.decode, form["assertion"] ?? "", account.publicKey.pemRepresentation, "RS256",
      "http://\(fcm["Host"] ?? "")/token")
    #expect(assertion.status == 0, "\(assertion.errors)")
    #expect(assertion.output.contains(#"["aud", "exp", "iat", "iss", "scope"]"#))
  }
}
