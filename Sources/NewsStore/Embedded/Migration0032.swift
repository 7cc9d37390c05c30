// Made by scripts/embed from migrations/0032_networks_of_pending_devices.sql; do not edit.
// swift-format-ignore-file

let migration0032 = #"""
-- The network of a client that has registered a pending device: 24 bits of an IPv4 address, 64 of an IPv6 address. Registrations
-- of one network replace each other when a push service has too many that are pending. It is deleted as soon as the device has
-- returned its code, or with the device after an hour.
ALTER TABLE devices ADD COLUMN network cidr;

"""#
