//! The proxy that the environment names for a host.

/// Chooses the proxy for a host. `variable` looks up the environment.
pub(super) fn choose_proxy(
    is_https: bool,
    host: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let find = |names: &[&str]| {
        let mut found = names.iter().filter_map(|name| variable(name));
        found.find(|value| !value.trim().is_empty())
    };
    let excepted = find(&["no_proxy", "NO_PROXY"]).unwrap_or_default();
    let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
    if is_here(&host)
        || excepted
            .split(',')
            .any(|pattern| matches_host(pattern, &host))
    {
        return None;
    }
    let own = match is_https {
        true => find(&["https_proxy", "HTTPS_PROXY"]),
        false => find(&["http_proxy", "HTTP_PROXY"]),
    };
    own.or_else(|| find(&["all_proxy", "ALL_PROXY"]))
}

fn is_here(host: &str) -> bool {
    let address = host.parse::<std::net::IpAddr>();
    host == "localhost" || host.ends_with(".localhost") || address.is_ok_and(|it| it.is_loopback())
}

/// Returns whether a host is one of a pattern: `*`, a host, or a domain with or without a dot or `*.`
/// before it.
fn matches_host(pattern: &str, host: &str) -> bool {
    let pattern = pattern.trim().to_ascii_lowercase();
    if pattern == "*" {
        return true;
    }
    let domain = pattern.trim_start_matches('*').trim_start_matches('.');
    let above = host.strip_suffix(domain);
    !domain.is_empty() && above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(https: bool, host: &str, variables: &[(&str, &str)]) -> Option<String> {
        choose_proxy(https, host, |name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.to_string())
        })
    }

    #[test]
    fn variable_for_scheme_counts_before_that_for_all() {
        let all = [
            ("HTTPS_PROXY", "s"),
            ("HTTP_PROXY", "h"),
            ("ALL_PROXY", "a"),
        ];
        assert_eq!(chosen(true, "x.org", &all).as_deref(), Some("s"));
        assert_eq!(chosen(false, "x.org", &all).as_deref(), Some("h"));
        assert_eq!(chosen(true, "x.org", &all[1..]).as_deref(), Some("a"));
        let small = [("https_proxy", "small"), ("HTTPS_PROXY", "s")];
        assert_eq!(chosen(true, "x.org", &small).as_deref(), Some("small"));
        assert_eq!(chosen(true, "x.org", &[("HTTPS_PROXY", " ")]), None);
    }

    #[test]
    fn no_proxy_hosts_and_this_machine_are_reached() {
        for (pattern, host, direct) in [
            ("x.org", "x.org", true),
            ("x.org", "api.x.org", true),
            ("x.org", "notx.org", false),
            (".x.org", "api.x.org", true),
            ("*.x.org", "API.X.org", true),
            ("a.net, x.org", "x.org", true),
            ("*", "x.org", true),
            ("", "x.org", false),
            (",", "x.org", false),
            ("10.0.0.7", "10.0.0.7", true),
            ("fd00::7", "[fd00::7]", true),
            ("other", "127.0.0.1", true),
            ("other", "localhost", true),
            ("other", "[::1]", true),
        ] {
            let variables = [("ALL_PROXY", "p"), ("NO_PROXY", pattern)];
            let found = chosen(true, host, &variables);
            assert_eq!(found.is_none(), direct, "{pattern} {host}");
        }
    }
}
