//! A download over s2n-quic.

use anyhow::{Context, Result, bail};
use download::{CHUNK, End, Meter, NAME, Terms, WINDOW};
use s2n_quic::client::Connect;
use s2n_quic::provider::congestion_controller::{Bbr, Cubic};
use s2n_quic::provider::limits::Limits;
use s2n_quic::{Client, Connection, Server};
use std::net::SocketAddr;
use tokio::time::timeout;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    match End::from_arguments()? {
        End::Server(terms) => serve(&terms).await,
        End::Client(terms) => fetch(&terms).await,
    }
}

async fn serve(terms: &Terms) -> Result<()> {
    terms.expect(&[])?;
    let (certificate, key) = (terms.certificate(), terms.key());
    let limits = Limits::new().with_max_send_buffer_size(WINDOW)?;
    let builder = Server::builder()
        .with_tls((certificate.as_path(), key.as_path()))?
        .with_limits(limits)?
        .with_io(terms.server)?;
    let mut server = match terms.control.as_str() {
        "cubic" => builder
            .with_congestion_controller(Cubic::default())?
            .start()?,
        "bbr" => builder
            .with_congestion_controller(Bbr::default())?
            .start()?,
        other => bail!("congestion control {other}: s2n-quic does not have it"),
    };
    let mut connection = server.accept().await.context("nobody came")?;
    let outcome = send(&mut connection).await;
    eprintln!("{outcome:?}");
    Ok(())
}

/// Sends as much as the connection takes.
async fn send(connection: &mut Connection) -> Result<()> {
    let stream = connection.accept_bidirectional_stream().await?;
    let mut stream = stream.context("no stream")?;
    let chunk = vec![0; CHUNK];
    loop {
        stream.send(chunk.clone().into()).await?;
    }
}

async fn fetch(terms: &Terms) -> Result<()> {
    terms.expect(&[])?;
    let certificate = terms.certificate();
    let limits = Limits::new()
        .with_data_window(WINDOW.into())?
        .with_bidirectional_local_data_window(WINDOW.into())?;
    let client = Client::builder()
        .with_tls(certificate.as_path())?
        .with_limits(limits)?
        .with_io(SocketAddr::new([0, 0, 0, 0].into(), 0))?
        .start()?;
    let mut meter = Meter::new(terms.period);
    let received = async {
        let to = Connect::new(terms.server).with_server_name(NAME);
        receive(client.connect(to).await?, &mut meter).await
    };
    let outcome = timeout(terms.period, received).await.unwrap_or(Ok(()));
    meter.print(outcome)
}

async fn receive(mut connection: Connection, meter: &mut Meter) -> Result<()> {
    let mut stream = connection.open_bidirectional_stream().await?;
    stream.send(vec![b'?'].into()).await?;
    while let Some(chunk) = stream.receive().await? {
        meter.count(chunk.len());
    }
    bail!("the server has finished")
}
