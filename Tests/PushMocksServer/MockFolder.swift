import Foundation
import PushMocks

/// The files by which a server uses the mocks, and by which devices are registered.
struct MockFolder {
  let folder: URL

  init(_ folder: URL) { self.folder = folder }

  /// Writes the certificate, the service account, the settings of the server, and a registration for each service.
  func write(_ mocks: PushMocks) throws {
    try write(mocks.authority, to: "ca.pem")
    try write(String(decoding: mocks.fcm.serviceAccount, as: UTF8.self), to: "account.json")
    let settings = [
      ("TIDINGS_APNS_KEY_FILE", path("apns.p8")), ("TIDINGS_APNS_KEY_ID", APNsMock.keyID),
      ("TIDINGS_APNS_TEAM_ID", APNsMock.teamID), ("TIDINGS_APNS_URL", mocks.apns.url),
      ("TIDINGS_FCM_CREDENTIALS", path("account.json")), ("TIDINGS_FCM_URL", mocks.fcm.url),
      ("TIDINGS_VAPID_KEY_FILE", path("vapid.pem")), ("TIDINGS_VAPID_SUBJECT", "mailto:news@example.org"),
      ("TIDINGS_PUSH_ORIGINS", mocks.webPush.url), ("TIDINGS_PUSH_CA_FILE", path("ca.pem")),
    ]
    let device = String(repeating: "0123456789abcdef", count: 4)
    try write(
      #"{"provider":"apns","token":"\#(device)","app":"example.news","alerts":true}"# + "\n", to: "device-apns.json")
    try write(
      #"{"provider":"fcm","token":"mock:0123456789abcdef","alerts":true}"# + "\n", to: "device-fcm.json")
    let subscription = mocks.webPush.sharedSubscription("browser").json
    try write(
      #"{"provider":"webpush","kind":"browser","subscription":\#(subscription),"alerts":true}"# + "\n",
      to: "device-webpush.json")
    // This file shows that all others are complete.
    try write(settings.map { "\($0)=\($1)\n" }.joined(), to: "settings.env")
  }

  private func path(_ name: String) -> String { folder.appending(path: name).path }

  private func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: folder.appending(path: name), options: .atomic)
  }
}
