//! Reading TOML past what is wrong in it, so that all of it can be told at once.
//!
//! [`read`] looks at each value before whoever wants it does: what is not of the kind that is wanted is noted, and something
//! made up is handed on in its place. A field that is missing is only known when the others have been read; then all is read
//! once more, with that field made up. What comes of it is of no use but to see what else is wrong.

use crate::place::reaches;
use crate::unknown::with_suggestion;
use serde::de::value::{StrDeserializer, StringDeserializer};
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess,
    SeqAccess, VariantAccess, Visitor,
};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use toml::Spanned;
use toml::de::DeValue;

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where, in bytes from the start of the text.
    pub offset: usize,
    /// What, and what was expected.
    pub message: String,
    /// The number, where it is one that its type cannot hold.
    pub number: Option<i128>,
}

impl Fault {
    /// Whether it is in there.
    pub fn within(&self, value: &Spanned<DeValue>) -> bool {
        reaches(value, self.offset)
    }
}

/// What is wrong in the document, and what it would be if that were right; none where nothing can be made up.
pub fn read<T: DeserializeOwned>(document: &Spanned<DeValue>) -> (Option<T>, Vec<Fault>) {
    let notes = Notes::default();
    loop {
        notes.faults.borrow_mut().clear();
        let value = Value {
            at: Some(document),
            notes: &notes,
        };
        match T::deserialize(value) {
            Err(Stop::Again) => {}
            Ok(read) => return (Some(read), notes.faults.take()),
            Err(stop) => {
                notes.fault(document.span().start, stop);
                return (None, notes.faults.take());
            }
        }
    }
}

/// Why a reading ended.
#[derive(Debug)]
enum Stop {
    /// A table lacks that field, which was not known before.
    Missing(&'static str),
    /// One more reading will tell more.
    Again,
    /// Whoever wanted the value says so.
    Said(String),
}

impl Display for Stop {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Self::Missing(field) => write!(f, "missing field `{field}`"),
            Self::Again => f.write_str("something is missing"),
            Self::Said(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Stop {}

impl de::Error for Stop {
    fn custom<T: Display>(message: T) -> Self {
        Self::Said(message.to_string())
    }

    fn missing_field(field: &'static str) -> Self {
        Self::Missing(field)
    }
}

#[derive(Default)]
struct Notes {
    faults: RefCell<Vec<Fault>>,
    /// Fields that are missing, by the place of their table.
    missing: RefCell<BTreeSet<(usize, &'static str)>>,
}

impl Notes {
    fn fault(&self, offset: usize, message: impl Display) {
        self.faults.borrow_mut().push(Fault {
            offset,
            message: with_suggestion(&message.to_string()),
            number: None,
        });
    }
}

/// A value of the document, or one that is made up.
#[derive(Clone, Copy)]
struct Value<'a, 'i> {
    at: Option<&'a Spanned<DeValue<'i>>>,
    notes: &'a Notes,
}

impl<'a, 'i> Value<'a, 'i> {
    fn made_up(notes: &'a Notes) -> Self {
        Self { at: None, notes }
    }

    /// What `pick` takes of it. Otherwise none, and it is noted that something else was expected.
    fn pick<T>(
        &self,
        expected: impl Display,
        pick: impl FnOnce(&'a DeValue<'i>) -> Option<T>,
    ) -> Option<T> {
        let at = self.at?;
        let picked = pick(at.get_ref());
        if picked.is_none() {
            let found = shown(at.get_ref());
            let message = format!("invalid type: {found}, expected {expected}");
            self.notes.fault(at.span().start, message);
        }
        picked
    }

    /// A whole number in that range.
    fn whole(&self, least: i128, most: i128) -> Option<i128> {
        let number = self.pick("an integer", |value| {
            let integer = value.as_integer()?;
            i128::from_str_radix(integer.as_str(), integer.radix()).ok()
        })?;
        let ok = (least..=most).contains(&number);
        if !ok && let Some(at) = self.at {
            self.notes.faults.borrow_mut().push(Fault {
                offset: at.span().start,
                message: format!("invalid value: {number}, expected {least} to {most}"),
                number: Some(number),
            });
        }
        ok.then_some(number)
    }

    fn number(&self) -> Option<f64> {
        self.pick("a number", |value| match value {
            DeValue::Float(float) => float.as_str().parse().ok(),
            DeValue::Integer(integer) => {
                let number = i128::from_str_radix(integer.as_str(), integer.radix());
                number.ok().map(|number| number as f64)
            }
            _ => None,
        })
    }

    /// The fields of a table, those that are missing made up, those that nobody knows noted.
    fn fields(&self, fields: &'static [&'static str]) -> Fields<'a, 'i> {
        let notes = self.notes;
        let table = self.pick("a table", DeValue::as_table);
        let Some((table, at)) = table.zip(self.at) else {
            let all = fields
                .iter()
                .map(|field| ((*field).into(), Self::made_up(notes)));
            return Fields::new(all.collect());
        };
        let mut found: Vec<(String, Self)> = Vec::new();
        let mut unknown: Vec<&str> = Vec::new();
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            if fields.contains(&name) {
                let at = Some(value);
                found.push((name.into(), Self { at, notes }));
            } else {
                let error = <Stop as de::Error>::unknown_field(name, fields);
                notes.fault(key.span().start, error);
                unknown.push(name);
            }
        }
        let offset = at.span().start;
        for (_, field) in notes
            .missing
            .borrow()
            .iter()
            .filter(|(of, _)| *of == offset)
        {
            if fields.contains(field) && !found.iter().any(|(name, _)| name == field) {
                // One that is misspelt is told as what nobody knows.
                if !unknown.iter().any(|name| is_meant(name, field)) {
                    notes.fault(offset, Stop::Missing(field));
                }
                found.push(((*field).into(), Self::made_up(notes)));
            }
        }
        Fields::new(found)
    }

    /// Has all read once more if a field was found missing in this table.
    fn read_fields<'de, V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        let read = visitor.visit_map(self.fields(fields));
        match (read, self.at) {
            (Err(Stop::Missing(field)), Some(at)) => {
                let new = (at.span().start, field);
                match self.notes.missing.borrow_mut().insert(new) {
                    true => Err(Stop::Again),
                    false => Err(Stop::Said(Stop::Missing(field).to_string())),
                }
            }
            (read, _) => read,
        }
    }
}

/// Whether whoever writes that name may mean that field: `delay` is `delay_ms`.
fn is_meant(name: &str, field: &str) -> bool {
    name.starts_with(field) || field.starts_with(name)
}

/// As serde calls it.
fn shown(value: &DeValue) -> String {
    match value {
        DeValue::String(text) => format!("string {text:?}"),
        DeValue::Integer(number) => format!("integer `{}`", number.as_str()),
        DeValue::Float(number) => format!("floating point `{}`", number.as_str()),
        DeValue::Boolean(is) => format!("boolean `{is}`"),
        DeValue::Datetime(moment) => format!("date {moment}"),
        DeValue::Array(_) => "sequence".into(),
        DeValue::Table(_) => "map".into(),
    }
}

macro_rules! whole {
    ($($method:ident $type:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
            let number = self.whole($type::MIN.into(), $type::MAX.into());
            visitor.visit_i64(number.and_then(|number| i64::try_from(number).ok()).unwrap_or(1))
        }
    )*};
}

impl<'de> Deserializer<'de> for Value<'_, '_> {
    type Error = Stop;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        match self.at.map(Spanned::get_ref) {
            None => visitor.visit_unit(),
            Some(DeValue::Boolean(_)) => self.deserialize_bool(visitor),
            Some(DeValue::Integer(_)) => self.deserialize_i64(visitor),
            Some(DeValue::Float(_)) => self.deserialize_f64(visitor),
            Some(DeValue::String(_)) => self.deserialize_str(visitor),
            Some(DeValue::Datetime(moment)) => visitor.visit_string(moment.to_string()),
            Some(DeValue::Array(_)) => self.deserialize_seq(visitor),
            Some(DeValue::Table(_)) => self.deserialize_map(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        visitor.visit_bool(self.pick("a boolean", DeValue::as_bool).unwrap_or(true))
    }

    whole! {
        deserialize_i8 i8 deserialize_i16 i16 deserialize_i32 i32 deserialize_i64 i64
        deserialize_u8 u8 deserialize_u16 u16 deserialize_u32 u32
    }

    // TOML's integers end at i64's.
    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        let number = self.whole(0, i64::MAX.into());
        visitor.visit_u64(number.map_or(1, |number| number as u64))
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        visitor.visit_f64(self.number().unwrap_or(1.0))
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        visitor.visit_str(self.pick("a string", DeValue::as_str).unwrap_or(""))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.deserialize_str(visitor)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        match self.at {
            None => visitor.visit_none(),
            Some(_) => visitor.visit_some(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        let values = self.pick("a sequence", DeValue::as_array);
        let values = values.into_iter().flatten().map(|value| Self {
            at: Some(value),
            ..self
        });
        visitor.visit_seq(Elements(values.collect::<Vec<_>>().into_iter()))
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        let expected = format!("a sequence of {length}");
        let values = self.pick(expected, |value| {
            let values = value.as_array()?;
            (values.len() == length).then_some(values)
        });
        let values: Vec<Self> = match values {
            Some(values) => {
                let at = |value| Self {
                    at: Some(value),
                    ..self
                };
                values.iter().map(at).collect()
            }
            None => vec![Self::made_up(self.notes); length],
        };
        visitor.visit_seq(Elements(values.into_iter()))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        let table = self.pick("a table", DeValue::as_table);
        let entries = table.into_iter().flatten().map(|(key, value)| {
            let at = Some(value);
            (key.get_ref().to_string(), Self { at, ..self })
        });
        visitor.visit_map(Fields::new(entries.collect()))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        self.read_fields(fields, visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        visitor.visit_enum(self.choice(variants))
    }

    serde::forward_to_deserialize_any! {
        i128 u128 bytes byte_buf unit unit_struct ignored_any
    }
}

impl<'a, 'i> Value<'a, 'i> {
    /// Which of the variants it is, the first if it is none of them; a word, or a table of one key.
    fn choice(self, variants: &'static [&'static str]) -> Choice<'a, 'i> {
        let made_up = Choice {
            name: variants.first().copied().unwrap_or_default(),
            word: None,
            content: Self::made_up(self.notes),
        };
        let expected = format!("one of {}", variants.join(", "));
        let picked = self.pick(expected, |value| match value {
            DeValue::String(word) => Some((word.as_ref(), None)),
            DeValue::Table(table) if table.len() == 1 => {
                let (key, value) = table.iter().next()?;
                Some((key.get_ref().as_ref(), Some((key.span().start, value))))
            }
            _ => None,
        });
        let Some(((word, content), at)) = picked.zip(self.at) else {
            return made_up;
        };
        let Some(name) = variants.iter().find(|name| **name == word) else {
            let offset = content.map_or(at.span().start, |(offset, _)| offset);
            let error = <Stop as de::Error>::unknown_variant(word, variants);
            self.notes.fault(offset, error);
            return made_up;
        };
        Choice {
            name,
            word: content.is_none().then(|| at.span().start),
            content: Self {
                at: content.map(|(_, value)| value),
                ..self
            },
        }
    }
}

/// A variant of an enumeration.
struct Choice<'a, 'i> {
    name: &'static str,
    /// Where it stands, if it is a word alone.
    word: Option<usize>,
    content: Value<'a, 'i>,
}

impl Choice<'_, '_> {
    /// Notes that something should follow the word, if it is one.
    fn wants_content(&self) {
        if let Some(offset) = self.word {
            let name = self.name;
            let message = format!("{name} alone, expected a table: {{ {name} = … }}");
            self.content.notes.fault(offset, message);
        }
    }
}

impl<'de> EnumAccess<'de> for Choice<'_, '_> {
    type Error = Stop;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Stop> {
        let name: StrDeserializer<Stop> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> VariantAccess<'de> for Choice<'_, '_> {
    type Error = Stop;

    fn unit_variant(self) -> Result<(), Stop> {
        if let Some(at) = self.content.at {
            let message = format!("a value for {}, expected the word alone", self.name);
            self.content.notes.fault(at.span().start, message);
        }
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Stop> {
        self.wants_content();
        seed.deserialize(self.content)
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Stop> {
        self.wants_content();
        self.content.deserialize_tuple(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        self.wants_content();
        self.content.read_fields(fields, visitor)
    }
}

/// The entries of a table.
struct Fields<'a, 'i> {
    rest: std::vec::IntoIter<(String, Value<'a, 'i>)>,
    value: Option<Value<'a, 'i>>,
}

impl<'a, 'i> Fields<'a, 'i> {
    fn new(fields: Vec<(String, Value<'a, 'i>)>) -> Self {
        Self {
            rest: fields.into_iter(),
            value: None,
        }
    }
}

impl<'de> MapAccess<'de> for Fields<'_, '_> {
    type Error = Stop;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Stop> {
        let Some((name, value)) = self.rest.next() else {
            return Ok(None);
        };
        self.value = Some(value);
        let name: StringDeserializer<Stop> = name.into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Stop> {
        seed.deserialize(self.value.take().expect("a value after its key"))
    }
}

/// The values of an array.
struct Elements<'a, 'i>(std::vec::IntoIter<Value<'a, 'i>>);

impl<'de> SeqAccess<'de> for Elements<'_, '_> {
    type Error = Stop;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Stop> {
        self.0
            .next()
            .map(|value| seed.deserialize(value))
            .transpose()
    }
}
