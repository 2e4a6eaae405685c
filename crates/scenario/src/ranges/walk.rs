//! A walk over the numbers of whatever can be serialised, each with its place and what the schema says of that place.

use super::Cursor;
use crate::Step;
use serde::Serialize;
use serde::ser::{
    Impossible, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple, Serializer,
};
use std::fmt::{self, Display, Formatter};

/// A number as it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Whole(i128),
    Float(f64),
}

impl Display for Number {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match *self {
            Self::Whole(whole) => write!(f, "{whole}"),
            // Without three hundred zeros.
            Self::Float(x) if x != 0.0 && x.is_finite() && !(1e-7..1e15).contains(&x.abs()) => {
                write!(f, "{x:e}")
            }
            Self::Float(x) => write!(f, "{x}"),
        }
    }
}

/// What is found at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Found {
    Number(Number),
    /// A list of that many items.
    List(usize),
}

/// Who is told of each number and each list.
type Tell<'a> = dyn FnMut(&[Step], Found, Cursor<'static>) + 'a;

/// Tells of each number and list in `value`, which the schema at `cursor` describes.
pub(crate) fn walk(value: &impl Serialize, cursor: Cursor<'static>, tell: &mut Tell) {
    let mut place = Vec::new();
    let walk = Walk {
        cursor,
        place: &mut place,
        tell,
    };
    // Only a map would be an error, and a scenario has none.
    value
        .serialize(walk)
        .expect("tables, lists, words and numbers");
}

struct Walk<'w, 't> {
    cursor: Cursor<'static>,
    place: &'w mut Vec<Step>,
    tell: &'w mut Tell<'t>,
}

impl<'t> Walk<'_, 't> {
    fn number(self, number: Number) -> Result<(), fmt::Error> {
        (self.tell)(self.place, Found::Number(number), self.cursor);
        Ok(())
    }

    fn again(&mut self, cursor: Cursor<'static>) -> Walk<'_, 't> {
        Walk {
            cursor,
            place: self.place,
            tell: self.tell,
        }
    }

    fn key<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> fmt::Result {
        let inner = self.cursor.key(key);
        self.inside(Step::Key(key), inner, value)
    }

    fn inside<T: Serialize + ?Sized>(
        &mut self,
        step: Step,
        inner: Cursor<'static>,
        value: &T,
    ) -> fmt::Result {
        self.place.push(step);
        let result = value.serialize(self.again(inner));
        self.place.pop();
        result
    }
}

macro_rules! whole {
    ($($method:ident $type:ty),*) => {$(
        fn $method(self, value: $type) -> fmt::Result {
            self.number(Number::Whole(value.into()))
        }
    )*};
}

macro_rules! nothing {
    ($($method:ident ($($arg:ty),*)),*) => {$(
        fn $method(self, $(_: $arg),*) -> fmt::Result {
            Ok(())
        }
    )*};
}

impl<'w, 't> Serializer for Walk<'w, 't> {
    type Ok = ();
    type Error = fmt::Error;
    type SerializeSeq = List<'w, 't>;
    type SerializeTuple = List<'w, 't>;
    type SerializeTupleStruct = Impossible<(), fmt::Error>;
    type SerializeTupleVariant = Impossible<(), fmt::Error>;
    type SerializeMap = Impossible<(), fmt::Error>;
    type SerializeStruct = Table<'w, 't>;
    type SerializeStructVariant = Table<'w, 't>;

    whole!(
        serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64,
        serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64
    );

    nothing!(
        serialize_bool(bool),
        serialize_char(char),
        serialize_str(&str),
        serialize_bytes(&[u8]),
        serialize_none(),
        serialize_unit(),
        serialize_unit_struct(&'static str),
        serialize_unit_variant(&'static str, u32, &'static str)
    );

    fn serialize_f32(self, value: f32) -> fmt::Result {
        self.number(Number::Float(value.into()))
    }

    fn serialize_f64(self, value: f64) -> fmt::Result {
        self.number(Number::Float(value))
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> fmt::Result {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> fmt::Result {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> fmt::Result {
        self.key(variant, value)
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<List<'w, 't>, fmt::Error> {
        if let Some(length) = length {
            (self.tell)(self.place, Found::List(length), self.cursor);
        }
        Ok(List {
            walk: self,
            next: 0,
        })
    }

    fn serialize_tuple(self, _: usize) -> Result<List<'w, 't>, fmt::Error> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Impossible<(), fmt::Error>, fmt::Error> {
        Err(fmt::Error)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Impossible<(), fmt::Error>, fmt::Error> {
        Err(fmt::Error)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Impossible<(), fmt::Error>, fmt::Error> {
        Err(fmt::Error)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Table<'w, 't>, fmt::Error> {
        Ok(Table {
            walk: self,
            is_inside: false,
        })
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Table<'w, 't>, fmt::Error> {
        let cursor = self.cursor.key(variant);
        self.place.push(Step::Key(variant));
        Ok(Table {
            walk: Walk { cursor, ..self },
            is_inside: true,
        })
    }
}

/// A list under way.
struct List<'w, 't> {
    walk: Walk<'w, 't>,
    next: usize,
}

impl List<'_, '_> {
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> fmt::Result {
        let nth = self.next;
        self.next += 1;
        let inner = self.walk.cursor.item(nth);
        self.walk.inside(Step::Nth(nth), inner, value)
    }
}

impl SerializeSeq for List<'_, '_> {
    type Ok = ();
    type Error = fmt::Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> fmt::Result {
        self.item(value)
    }

    fn end(self) -> fmt::Result {
        Ok(())
    }
}

impl SerializeTuple for List<'_, '_> {
    type Ok = ();
    type Error = fmt::Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> fmt::Result {
        self.item(value)
    }

    fn end(self) -> fmt::Result {
        Ok(())
    }
}

/// A table under way.
struct Table<'w, 't> {
    walk: Walk<'w, 't>,
    /// Whether it stands inside the key of its kind.
    is_inside: bool,
}

impl SerializeStruct for Table<'_, '_> {
    type Ok = ();
    type Error = fmt::Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> fmt::Result {
        self.walk.key(key, value)
    }

    fn end(self) -> fmt::Result {
        if self.is_inside {
            self.walk.place.pop();
        }
        Ok(())
    }
}

impl SerializeStructVariant for Table<'_, '_> {
    type Ok = ();
    type Error = fmt::Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> fmt::Result {
        self.walk.key(key, value)
    }

    fn end(self) -> fmt::Result {
        SerializeStruct::end(self)
    }
}
