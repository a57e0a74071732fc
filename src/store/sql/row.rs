//! Rows and parameters of statements, for both databases in the value types of rusqlite.

use rusqlite::types::{FromSql, FromSqlError, ToSql, ToSqlOutput, Value, ValueRef};
use rusqlite::{Error, Statement};

use super::session;

pub(in crate::store) enum Row<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a tokio_postgres::Row),
}

impl Row<'_> {
    pub(in crate::store) fn get<T: FromSql>(&self, column: usize) -> rusqlite::Result<T> {
        match self {
            Row::Sqlite(row) => row.get(column),
            Row::Postgres(row) => {
                let value = session::read(row, column)?;
                T::column_result(value).map_err(|fault| match fault {
                    FromSqlError::InvalidType => Error::InvalidColumnType(
                        column,
                        row.columns()[column].name().to_string(),
                        value.data_type(),
                    ),
                    FromSqlError::OutOfRange(number) => {
                        Error::IntegralValueOutOfRange(column, number)
                    }
                    fault => {
                        Error::FromSqlConversionFailure(column, value.data_type(), fault.into())
                    }
                })
            }
        }
    }

    pub(in crate::store) fn get_ref(&self, column: usize) -> rusqlite::Result<ValueRef<'_>> {
        match self {
            Row::Sqlite(row) => row.get_ref(column),
            Row::Postgres(row) => session::read(row, column),
        }
    }

    /// Returns how many columns it has.
    pub(in crate::store) fn columns(&self) -> usize {
        match self {
            Row::Sqlite(row) => row.as_ref().column_count(),
            Row::Postgres(row) => row.len(),
        }
    }

    pub(in crate::store) fn column_name(&self, column: usize) -> Option<&str> {
        match self {
            Row::Sqlite(row) => row.as_ref().column_name(column).ok(),
            Row::Postgres(row) => row.columns().get(column).map(|column| column.name()),
        }
    }
}

/// Values of the parameters of a statement, in the order of their numbers.
pub(in crate::store) trait Parameters {
    fn bind(&self, to: &mut impl Bind) -> rusqlite::Result<()>;
}

pub(in crate::store) trait Bind {
    fn bind(&mut self, value: &(impl ToSql + ?Sized)) -> rusqlite::Result<()>;
}

/// A statement of SQLite, and how many of its parameters are bound.
pub(super) struct Bound<'a, 'b>(pub(super) &'a mut Statement<'b>, usize);

impl<'a, 'b> Bound<'a, 'b> {
    pub(super) fn bind_all(
        statement: &'a mut Statement<'b>,
        parameters: &impl Parameters,
    ) -> rusqlite::Result<&'a mut Statement<'b>> {
        let mut bound = Bound(statement, 0);
        parameters.bind(&mut bound)?;
        debug_assert_eq!(bound.1, bound.0.parameter_count());
        Ok(bound.0)
    }
}

impl Bind for Bound<'_, '_> {
    fn bind(&mut self, value: &(impl ToSql + ?Sized)) -> rusqlite::Result<()> {
        self.1 += 1;
        self.0.raw_bind_parameter(self.1, value)
    }
}

impl Bind for Vec<Value> {
    fn bind(&mut self, value: &(impl ToSql + ?Sized)) -> rusqlite::Result<()> {
        self.push(match value.to_sql()? {
            ToSqlOutput::Borrowed(value) => value.try_into()?,
            ToSqlOutput::Owned(value) => value,
            _ => Value::Null,
        });
        Ok(())
    }
}

impl<T: ToSql> Parameters for [T] {
    fn bind(&self, to: &mut impl Bind) -> rusqlite::Result<()> {
        self.iter().try_for_each(|value| to.bind(value))
    }
}

impl<T: ToSql, const N: usize> Parameters for [T; N] {
    fn bind(&self, to: &mut impl Bind) -> rusqlite::Result<()> {
        self.as_slice().bind(to)
    }
}

impl<T: ToSql> Parameters for Vec<T> {
    fn bind(&self, to: &mut impl Bind) -> rusqlite::Result<()> {
        self.as_slice().bind(to)
    }
}

impl<P: Parameters + ?Sized> Parameters for &P {
    fn bind(&self, to: &mut impl Bind) -> rusqlite::Result<()> {
        (*self).bind(to)
    }
}

macro_rules! tuples {
    ($(($($name:ident),*);)+) => {
        $(impl<$($name: ToSql),*> Parameters for ($($name,)*) {
            #[allow(non_snake_case, unused_variables)]
            fn bind(&self, to: &mut impl Bind) -> rusqlite::Result<()> {
                let ($($name,)*) = self;
                $(to.bind($name)?;)*
                Ok(())
            }
        })+
    };
}

tuples! {
    ();
    (A, B);
    (A, B, C);
    (A, B, C, D);
    (A, B, C, D, E);
    (A, B, C, D, E, F);
    (A, B, C, D, E, F, G);
    (A, B, C, D, E, F, G, H, I);
    (A, B, C, D, E, F, G, H, I, J);
    (A, B, C, D, E, F, G, H, I, J, K, L, M);
}
