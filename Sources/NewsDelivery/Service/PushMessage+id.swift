import Foundation
import NewsStore

extension PushMessage {
  /// The id of the message to the device, which further attempts repeat: the combined bits of push and device.
  var messageID: UUID {
    let (push, device) = (self.push.uuid, self.device.uuid)
    let bytes = withUnsafeBytes(of: push) { push in
      withUnsafeBytes(of: device) { device in zip(push, device).map { $0 ^ $1 } }
    }
    return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}
