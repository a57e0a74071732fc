//! Stands in for `schemars` in a build without schemas: its derive does nothing, so that types can name it without a
//! condition around each.

use proc_macro::TokenStream;

#[proc_macro_derive(JsonSchema, attributes(schemars))]
pub fn derive_nothing(_: TokenStream) -> TokenStream {
    TokenStream::new()
}
