//! YAML as a value, and the place of every field in it.

use std::collections::HashMap;

use granit_parser::{Event, Parser, Span, options};
use serde_json::{Map, Value};

use super::{Place, scalar};
use crate::validate::Violation;

/// How deep a document may be, and how many values aliases may make of it, before it is an attack.
const DEPTH: usize = 128;
const VALUES: usize = 100_000;

/// One document of a file.
pub(super) struct Document {
    /// Where it begins.
    pub(super) place: Place,
    /// What it says.
    pub(super) value: Value,
    /// Where each field is, by its path.
    pub(super) places: Places,
    /// What is wrong with its mappings.
    pub(super) violations: Vec<Violation>,
}

/// Where each field is, by its path.
pub(super) type Places = HashMap<String, Entry>;

/// Where the name and the value of a field begin.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) name: Place,
    pub(super) value: Place,
}

/// The documents of a text, in order. One that cannot be read does not hide those after it.
pub(super) fn documents(text: &str) -> Vec<Result<Document, (Place, Violation)>> {
    let mut parser = Parser::new_from_str_with_options(text, options! { emit_comments: false });
    let mut documents = Vec::new();
    loop {
        let mut reader = Reader { parser: &mut parser, anchors: HashMap::new(), values: 0 };
        match reader.document() {
            Ok(Some(node)) => documents.push(Ok(Document::of(&node))),
            Ok(None) => return documents,
            Err(problem) => {
                documents.push(Err(problem));
                if !matches!(parser.proceed_next_document(), Ok(true)) {
                    return documents;
                }
            }
        }
    }
}

#[derive(Clone)]
struct Node {
    place: Place,
    content: Content,
}

#[derive(Clone)]
enum Content {
    Scalar(Value),
    List(Vec<Node>),
    Mapping(Vec<(Key, Node)>),
}

#[derive(Clone)]
struct Key {
    name: String,
    place: Place,
}

type Problem = (Place, Violation);

struct Reader<'p, 't> {
    parser: &'p mut Parser<'t, granit_parser::StrInput<'t>>,
    anchors: HashMap<usize, Node>,
    values: usize,
}

impl<'t> Reader<'_, 't> {
    /// The next document; none at the end of the text.
    fn document(&mut self) -> Result<Option<Node>, Problem> {
        loop {
            match self.next()? {
                Some((Event::DocumentStart(..), _)) => {
                    let (event, span) = self.expect()?;
                    return self.node(event, span, 0).map(Some);
                }
                Some(_) => {}
                None => return Ok(None),
            }
        }
    }

    fn node(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<Node, Problem> {
        let place = place(span);
        self.values += 1;
        if depth > DEPTH || self.values > VALUES {
            return Err((place, Violation::new("", "is too large: aliases or nesting go beyond all reason")));
        }
        let (content, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let as_text = tag.is_some_and(|tag| tag.is_yaml_core_schema_tag("str"));
                (Content::Scalar(scalar::value(&text, style, as_text)), anchor)
            }
            Event::SequenceStart(_, anchor, _) => (self.list(depth)?, anchor),
            Event::MappingStart(_, anchor, _) => (self.mapping(depth)?, anchor),
            Event::Alias(anchor) => {
                let node = self.anchors.get(&anchor).cloned();
                let node = node.ok_or_else(|| (place, Violation::new("", "is an alias of something around it")))?;
                self.values += size(&node.content);
                return Ok(Node { place, content: node.content });
            }
            _ => return Err((place, Violation::new("", "is not a value"))),
        };
        let node = Node { place, content };
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn list(&mut self, depth: usize) -> Result<Content, Problem> {
        let mut items = Vec::new();
        loop {
            match self.expect()? {
                (Event::SequenceEnd, _) => return Ok(Content::List(items)),
                (event, span) => items.push(self.node(event, span, depth + 1)?),
            }
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<Content, Problem> {
        let mut fields = Vec::new();
        loop {
            let (event, span) = self.expect()?;
            if event == Event::MappingEnd {
                return Ok(Content::Mapping(fields));
            }
            let key = self.node(event, span, depth + 1)?;
            let name = match key.content {
                Content::Scalar(Value::String(name)) => name,
                Content::Scalar(other) => other.to_string(),
                _ => return Err((key.place, Violation::new("", "is not a name: write a text before the `:`"))),
            };
            let (event, span) = self.expect()?;
            let value = self.node(event, span, depth + 1)?;
            fields.push((Key { name, place: key.place }, value));
        }
    }

    fn next(&mut self) -> Result<Option<(Event<'t>, Span)>, Problem> {
        match self.parser.next_event() {
            None | Some(Ok((Event::StreamEnd, _))) => Ok(None),
            Some(Ok((event, span))) => Ok(Some((event, span))),
            Some(Err(error)) => {
                let mark = error.marker();
                let place = Place { line: mark.line(), column: mark.col() + 1 };
                Err((place, Violation::new("", format!("is not YAML: {}", error.kind()))))
            }
        }
    }

    fn expect(&mut self) -> Result<(Event<'t>, Span), Problem> {
        let end = Place { line: 1, column: 1 };
        self.next()?.ok_or_else(|| (end, Violation::new("", "is not YAML: it ends too early")))
    }
}

impl Document {
    fn of(node: &Node) -> Self {
        let mut document =
            Self { place: node.place, value: Value::Null, places: Places::new(), violations: Vec::new() };
        document.value = document.value_of(node, "");
        document
    }

    fn value_of(&mut self, node: &Node, path: &str) -> Value {
        match &node.content {
            Content::Scalar(value) => value.clone(),
            Content::List(items) => {
                let each = items.iter().enumerate().map(|(position, item)| {
                    let path = format!("{path}[{position}]");
                    self.places.insert(path.clone(), Entry { name: item.place, value: item.place });
                    self.value_of(item, &path)
                });
                Value::Array(each.collect())
            }
            Content::Mapping(fields) => {
                let mut object = Map::new();
                for (key, value) in fields.iter().filter(|(key, _)| key.name != "<<") {
                    let path = if path.is_empty() { key.name.clone() } else { format!("{path}.{}", key.name) };
                    if object.contains_key(&key.name) {
                        self.violations.push(Violation {
                            name_is_wrong: true,
                            ..Violation::new(&path, "is written twice: write it once")
                        });
                    }
                    // A rule about a whole list or mapping is about what stands before the colon.
                    let scalar = matches!(value.content, Content::Scalar(_));
                    let entry = Entry { name: key.place, value: if scalar { value.place } else { key.place } };
                    self.places.insert(path.clone(), entry);
                    let value = self.value_of(value, &path);
                    object.insert(key.name.clone(), value);
                }
                for (_, merged) in fields.iter().filter(|(key, _)| key.name == "<<") {
                    self.merge(merged, path, &mut object);
                }
                Value::Object(object)
            }
        }
    }

    /// The fields of `<<` that the mapping does not have itself.
    fn merge(&mut self, node: &Node, path: &str, object: &mut Map<String, Value>) {
        match &node.content {
            Content::Mapping(fields) => {
                let missing = fields.iter().filter(|(key, _)| !object.contains_key(&key.name)).cloned().collect();
                let missing = Node { place: node.place, content: Content::Mapping(missing) };
                if let Value::Object(fields) = self.value_of(&missing, path) {
                    object.extend(fields);
                }
            }
            Content::List(nodes) => nodes.iter().for_each(|node| self.merge(node, path, object)),
            Content::Scalar(_) => {}
        }
    }
}

fn size(content: &Content) -> usize {
    match content {
        Content::Scalar(_) => 1,
        Content::List(items) => items.iter().map(|item| 1 + size(&item.content)).sum(),
        Content::Mapping(fields) => fields.iter().map(|(_, value)| 2 + size(&value.content)).sum(),
    }
}

fn place(span: Span) -> Place {
    Place { line: span.start.line(), column: span.start.col() + 1 }
}
