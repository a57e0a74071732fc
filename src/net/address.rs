//! Whether an address is public or private: of this machine or of the networks around it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::Uri;

/// Returns whether a URL has a private address as its host, in any spelling. Only resolving tells it of a name.
pub(crate) fn is_plainly_private(url: &str) -> bool {
    let host = host(url);
    let is_here = host == "localhost" || host.ends_with(".localhost");
    is_here || address(&host).is_some_and(|address| !is_public(address))
}

/// Returns the host of a URL: in small letters, without brackets, zone and last dot.
fn host(url: &str) -> String {
    let uri = url.parse::<Uri>().unwrap_or_default();
    let host = uri.host().unwrap_or_default().trim_start_matches('[');
    let host = host.split([']', '%']).next().unwrap_or_default();
    host.trim_end_matches('.').to_ascii_lowercase()
}

fn address(host: &str) -> Option<IpAddr> {
    let plain = host.parse().ok();
    plain.or_else(|| parse_any_ipv4(host).map(IpAddr::V4))
}

/// Reads an IPv4 address in each spelling that systems accept: `127.1`,
/// `0x7f000001`, `0177.0.0.1`, `2130706433`.
fn parse_any_ipv4(host: &str) -> Option<Ipv4Addr> {
    let numbers: Vec<u32> = host.split('.').map(number).collect::<Option<_>>()?;
    let (last, bytes) = numbers.split_last()?;
    if bytes.len() > 3 || bytes.iter().any(|byte| *byte > 255) {
        return None;
    }
    // The last number fills the room that the others leave.
    let room = 32 - 8 * u32::try_from(bytes.len()).ok()?;
    if u64::from(*last) >> room != 0 {
        return None;
    }
    let places = [24_u32, 16, 8];
    let high = bytes.iter().zip(places).map(|(byte, place)| *byte << place);
    Some(Ipv4Addr::from(high.sum::<u32>() + last))
}

/// Reads a number: of base 16 after `0x`, of base 8 after `0`, else of base 10.
fn number(part: &str) -> Option<u32> {
    let (digits, radix) = match (part.strip_prefix("0x"), part.strip_prefix('0')) {
        (Some(""), _) | (_, Some("")) => return Some(0),
        (Some(digits), _) => (digits, 16),
        (_, Some(digits)) => (digits, 8),
        _ => (part, 10),
    };
    let is_signed = digits.starts_with('+');
    u32::from_str_radix(digits, radix)
        .ok()
        .filter(|_| !is_signed)
}

pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = match (a, b, c) {
        // This network, loopback, and everything from 224 on: groups, reserved, broadcast.
        (0 | 127 | 224..=255, ..) => true,
        // Private networks, and those of providers (100.64.0.0/10).
        (10, ..) | (172, 16..=31, _) | (192, 168, _) | (100, 64..=127, _) => true,
        // Link-local, with the metadata services of clouds.
        (169, 254, _) => true,
        // Protocols, examples, relays and measurements.
        (192, 0, 0 | 2) | (192, 88, 99) | (198, 18..=19, _) => true,
        (198, 51, 100) | (203, 0, 113) => true,
        _ => false,
    };
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let low = |at: usize| {
        let [a, b] = parts[at].to_be_bytes();
        let [c, d] = parts[at + 1].to_be_bytes();
        Ipv4Addr::new(a, b, c, d)
    };
    match parts {
        // IPv4 addresses within IPv6: mapped, translated, 6to4.
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => is_public_v4(low(6)),
        [0x2002, ..] => is_public_v4(low(1)),
        // Teredo, documentation, and identifiers.
        [0x2001, 0 | 0xdb8, ..] | [0x2001, 0x10..=0x2f, ..] | [0x3fff, ..] => false,
        // All global addresses are in 2000::/3.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_plainly_names_this_machine_or_one_around_it_is_private() {
        for (url, private) in [
            ("http://127.0.0.1:9/run", true),
            ("http://localhost/run", true),
            ("http://api.localhost./run", true),
            ("http://a@[::1]:9/", true),
            ("http://169.254.169.254/latest", true),
            ("https://10.0.0.7?x", true),
            ("http://127.1:9/run", true),
            ("http://127.0.1/run", true),
            ("http://0x7f000001/run", true),
            ("http://0X7F.0.0.1/run", true),
            ("http://0177.0.0.1/run", true),
            ("http://2130706433/run", true),
            ("http://0/run", true),
            ("http://0x/run", true),
            ("http://127.0.0.1./run", true),
            ("http://LocalHost.:9/run", true),
            ("http://10.1/run", true),
            ("http://0xa9fea9fe/latest", true),
            ("http://[::ffff:127.0.0.1]/run", true),
            ("http://[::ffff:7f00:1]/run", true),
            ("http://[fe80::1%25eth0]/run", true),
            ("http://8.8/", false),
            ("http://134744072/", false),
            ("http://0x08.010.8.8/", false),
            ("http://127.0.0.0.1/", false),
            ("http://4294967296/", false),
            ("http://127.example.com/", false),
            ("https://example.com/127.0.0.1", false),
            ("https://8.8.8.8/", false),
        ] {
            assert_eq!(is_plainly_private(url), private, "{url}");
        }
    }

    #[test]
    fn places_on_this_machine_and_around_it_are_not_public() {
        for (address, public) in [
            ("1.1.1.1", true),
            ("93.184.216.34", true),
            ("172.15.0.1", true),
            ("172.32.0.1", true),
            ("100.128.0.1", true),
            ("0.0.0.0", false),
            ("127.0.0.1", false),
            ("127.8.9.1", false),
            ("10.0.0.1", false),
            ("172.16.0.1", false),
            ("172.31.255.255", false),
            ("192.168.1.1", false),
            ("100.64.0.1", false),
            ("169.254.169.254", false),
            ("192.0.2.1", false),
            ("198.18.0.1", false),
            ("224.0.0.1", false),
            ("255.255.255.255", false),
            ("2606:4700::1111", true),
            ("::", false),
            ("::1", false),
            ("::127.0.0.1", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:1.1.1.1", true),
            ("64:ff9b::10.0.0.1", false),
            ("64:ff9b::1.1.1.1", true),
            ("2002:7f00:1::", false),
            ("2002:101:101::", true),
            ("fe80::1", false),
            ("fc00::1", false),
            ("fd00:ec2::254", false),
            ("ff02::1", false),
            ("2001:db8::1", false),
            ("2001::1", false),
        ] {
            assert_eq!(is_public(address.parse().unwrap()), public, "{address}");
        }
    }
}
